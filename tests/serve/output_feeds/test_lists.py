"""What each output feed lists, and that it never lists more than its owner may read."""

import pytest

from feedmill.library.entries.labels import make_label
from feedmill.library.entries.marks import apply_marks
from feedmill.library.filters.manage_filters import create_filter
from feedmill.library.search.saved_searches import create_saved_search
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.filters.entry_filter import FilterActions, FilterDraft
from feedmill.model.pool import PoolRule
from feedmill.model.user import Caller
from feedmill.store.entries.full_texts import save_full_texts
from feedmill.store.subscriptions.change_subscription import end_subscription
from feedmill.store.subscriptions.read_subscriptions import subscription_of
from tests.library.small_library import NOW, SmallLibrary
from tests.serve.output_feeds.output_reader import make_output_feed, parsed, titles_in
from tests.serve.rest.site import Person, Site

MUTE = FilterDraft("Quiet", "noise", actions=FilterActions(hide=True))


@pytest.fixture
async def alice(site: Site) -> Person:
    return await site.person("alice")


@pytest.fixture
async def charlie(site: Site) -> Person:
    return await site.person("charlie")


async def test_all_entries_come_in_the_order_of_their_arrival(
    site: Site, library: SmallLibrary, alice: Person, charlie: Person
) -> None:
    feed, others = await library.feed("mills"), await library.feed("others")
    await library.subscribe(alice.user, feed)
    await library.subscribe(charlie.user, others)
    await library.arrive(feed, "first")
    await library.arrive(others, "of Charlie alone")
    # Published long before, but it arrived last: whoever reads the first page from time to time must see it.
    await library.arrive(feed, "old news", at=NOW.replace(year=2019))

    reader = await make_output_feed(site, alice, "all")

    assert await reader.titles() == ["old news", "first"]
    assert parsed(await reader.atom()).title == "All articles"


async def test_a_folder_has_the_entries_of_its_subfolders(site: Site, library: SmallLibrary, alice: Person) -> None:
    inside, below, outside = [await library.feed(name) for name in ("inside", "below", "outside")]
    ids = [await library.subscribe(alice.user, feed) for feed in (inside, below, outside)]
    top = await library.folder(alice.user, "Craft", ids[0])
    await library.folder(alice.user, "Mills", ids[1], parent_id=top)
    for feed, title in ((inside, "a"), (below, "b"), (outside, "c")):
        await library.arrive(feed, title)

    reader = await make_output_feed(site, alice, f"folder/{top}")

    assert await reader.titles() == ["b", "a"]
    assert parsed(await reader.atom()).title == "Craft"


async def test_a_single_feed(site: Site, library: SmallLibrary, alice: Person) -> None:
    feed, other = await library.feed("mills"), await library.feed("other")
    subscription = await library.subscribe(alice.user, feed, "My mills")
    await library.subscribe(alice.user, other)
    await library.arrive(feed, "a")
    await library.arrive(other, "b")

    reader = await make_output_feed(site, alice, f"feed/{subscription}")

    assert await reader.titles() == ["a"]
    assert parsed(await reader.atom()).title == "My mills"


async def test_starred_entries_come_in_the_order_of_their_stars_also_after_unsubscribing(
    site: Site, library: SmallLibrary, alice: Person
) -> None:
    feed = await library.feed("mills")
    subscription = await library.subscribe(alice.user, feed)
    ids = await library.arrive(feed, "a", "b", "c")
    db = site.app.db
    await apply_marks(db, alice.user.id, [ids[1]], EntryMarks(starred=True), NOW)
    await apply_marks(db, alice.user.id, [ids[0]], EntryMarks(starred=True), NOW.replace(hour=9))
    reader = await make_output_feed(site, alice, "starred")
    before = await reader.titles()

    own = await subscription_of(db, alice.user.id, subscription)
    assert own is not None
    await end_subscription(db, alice.user.id, own)

    assert before == ["a", "b"]
    assert await reader.titles() == ["a", "b"]


async def test_read_later_a_label_and_a_saved_search(site: Site, library: SmallLibrary, alice: Person) -> None:
    feed = await library.feed("mills")
    await library.subscribe(alice.user, feed)
    ids = await library.arrive(feed, "wheel", "sail", "stone")
    db = site.app.db
    label = await make_label(db, alice.user.id, "Good")
    await apply_marks(db, alice.user.id, ids[:2], EntryMarks(add_labels=(label.id,)), NOW)
    await apply_marks(db, alice.user.id, ids[2:], EntryMarks(later=True), NOW.replace(year=2126))
    search = await create_saved_search(db, alice.user.id, "Sails", "sail")

    readers = [await make_output_feed(site, alice, name) for name in (f"label/{label.id}", f"search/{search.id}")]
    later = await make_output_feed(site, alice, "later")

    assert [await reader.titles() for reader in readers] == [["sail", "wheel"], ["sail"]]
    assert [parsed(await reader.atom()).title for reader in readers] == ["Good", "Sails"]
    assert await later.titles() == ["stone"]


async def test_a_pool_group_is_for_those_who_may_take_from_it(
    site: Site, library: SmallLibrary, alice: Person, charlie: Person
) -> None:
    feed = await library.feed("mills")
    await library.arrive(feed, "a", "b")
    group = await site.app.pools.create("texts", PoolRule())
    await site.app.pools.gatherer.catch_up(NOW)
    refused = await charlie.post("/output-feeds", {"list": f"pool/{group.id}"})
    await site.app.pools.grant(group, alice.user)

    reader = await make_output_feed(site, alice, f"pool/{group.id}")
    while_granted = await reader.titles()
    await site.app.pools.revoke(group, alice.user.id)

    assert refused.status_code == 404
    assert while_granted == ["b", "a"]
    assert (await reader.atom()).status_code == 404


@pytest.mark.parametrize("kind", ["folder", "label", "search", "filter", "feed", "pool"])
async def test_nobody_makes_a_feed_of_what_belongs_to_another(
    site: Site, library: SmallLibrary, alice: Person, charlie: Person, kind: str
) -> None:
    feed = await library.feed("mills")
    subscription = await library.subscribe(alice.user, feed)
    ids = {
        "folder": await library.folder(alice.user, "Craft", subscription),
        "label": (await make_label(site.app.db, alice.user.id, "Good")).id,
        "search": (await create_saved_search(site.app.db, alice.user.id, "Sails", "sail")).id,
        "filter": (await create_filter(site.app.db, Caller(alice.user, alice.user.scopes), MUTE, NOW)).id,
        "feed": subscription,
        "pool": (await site.app.pools.create("texts", PoolRule())).id,
    }

    answer = await charlie.post("/output-feeds", {"list": f"{kind}/{ids[kind]}"})

    assert answer.status_code == 404


async def test_a_list_that_was_deleted_is_not_found(site: Site, library: SmallLibrary, alice: Person) -> None:
    folder = await library.folder(alice.user, "Craft")
    reader = await make_output_feed(site, alice, f"folder/{folder}")
    before = await reader.atom()

    await alice.delete(f"/folders/{folder}")

    assert (before.status_code, (await reader.atom()).status_code) == (200, 404)


async def test_a_private_feed_of_another_never_appears(
    site: Site, library: SmallLibrary, alice: Person, charlie: Person
) -> None:
    """Its URL ends with its owner; the pool of everything leaves it out, and so do all lists of others."""
    private = await library.feed(f"secret.example.org/#user={alice.user.id}&")
    await library.subscribe(alice.user, private)
    await library.arrive(private, "for Alice alone")
    group = await site.app.pools.create("texts", PoolRule())
    await site.app.pools.gatherer.catch_up(NOW)
    await site.app.pools.grant(group, charlie.user)

    charlies = [await make_output_feed(site, charlie, name) for name in ("all", f"pool/{group.id}")]

    assert [await reader.titles() for reader in charlies] == [[], []]
    assert await (await make_output_feed(site, alice, "all")).titles() == ["for Alice alone"]


async def test_the_url_of_a_source_feed_is_not_told(site: Site, library: SmallLibrary, alice: Person) -> None:
    """It may contain a token of the subscriber; without a title neither name nor document shows it."""
    feed = await library.feed("paid")
    subscription = await library.subscribe(alice.user, feed)
    await library.arrive(feed, "a", link=None)

    readers = [await make_output_feed(site, alice, name) for name in ("all", f"feed/{subscription}")]
    texts = [(await reader.get(url)).text for reader in readers for url in (reader.atom_url, reader.json_url)]

    assert [text for text in texts if "paid.example.org" in text] == []


async def test_the_full_text_is_used_where_it_was_fetched(site: Site, library: SmallLibrary, alice: Person) -> None:
    feed = await library.feed("mills")
    await library.subscribe(alice.user, feed)
    [entry] = await library.arrive(feed, "a")
    reader = await make_output_feed(site, alice, "all")
    before = (await reader.json())["items"][0]["content_html"]

    await save_full_texts(
        site.app.db, entry, "https://mills.example.org/a", {"": '<p>Whole <a href="/b">b</a></p>'}, NOW
    )

    assert before == "<p>a</p>"
    assert 'href="https://mills.example.org/b"' in (await reader.json())["items"][0]["content_html"]


async def test_pages_follow_each_other_until_all_is_read(site: Site, library: SmallLibrary, alice: Person) -> None:
    feed = await library.feed("mills")
    await library.subscribe(alice.user, feed)
    ids = await library.arrive(feed, *(f"entry {number:03}" for number in range(120)))
    await apply_marks(site.app.db, alice.user.id, ids, EntryMarks(starred=True), NOW)

    for name in ("all", "starred"):
        reader = await make_output_feed(site, alice, name)
        for start in (reader.atom_url, f"{reader.json_url}?entries=7"):
            found, url = [], start
            while url:
                answer = await reader.get(url)
                found += titles_in(answer)
                url = _next_url(answer)

            assert sorted(filter(None, found), reverse=True) == [f"entry {number:03}" for number in range(119, -1, -1)]


async def test_a_page_ends_early_when_its_texts_are_long(
    site: Site, library: SmallLibrary, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("feedmill.library.output_feeds.read_page.MAX_TEXT", 25)
    feed = await library.feed("mills")
    await library.subscribe(alice.user, feed)
    await library.arrive(feed, "a", "b", "c", content_html="<p>ten letters</p>")
    reader = await make_output_feed(site, alice, "all")

    pages, url = [], reader.atom_url
    while url:
        answer = await reader.get(url)
        pages.append(titles_in(answer))
        url = _next_url(answer)

    assert pages == [["c"], ["b"], ["a"]]


def _next_url(answer: object) -> str:
    """The address of the next page; empty on the last one."""
    text = answer.text  # type: ignore[attr-defined]
    if text.startswith("{"):
        return str(answer.json().get("next_url", ""))  # type: ignore[attr-defined]
    _, found, rest = text.partition('rel="next" href="')
    return rest.partition('"')[0].replace("&amp;", "&") if found else ""
