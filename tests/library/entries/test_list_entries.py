"""Lists of entries: the content of each view, page by page."""

import asyncio
from datetime import timedelta
from itertools import product

import pytest

from feedmill.collect.entries.changes import BELOW_ALL_DATES
from feedmill.errors import NotFound
from feedmill.library.cursors import from_cursor, to_cursor
from feedmill.library.entries.list_entries import EntryListPage, EntryListQuery, EntrySummary, list_entries
from feedmill.library.entries.marks import apply_marks
from feedmill.library.entries.scopes import find_scope
from feedmill.model.entry_lists import ALL_ENTRIES, EntryOrder, EntryScope, EntryView, ListPosition
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.store.database import Database
from feedmill.store.entries.labels import add_label
from feedmill.store.subscriptions.unread_entries import steps_to_drop_subscription
from tests.library.small_library import DAY, HOUR, NOW, SmallLibrary


async def test_an_entry_has_its_feed_its_guid_its_own_summary_and_when_it_was_first_seen(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice = await library.person()
    feed = await library.feed()
    await library.subscribe(alice, feed)
    long = "<p>Tom &amp; Jerry " + "run " * 400 + "</p>"
    await library.arrive(feed, "plain")
    await library.arrive(feed, "long", summary=long, guid="tag:example.org,2026:long")

    summarized, plain = (await list_entries(any_db, alice.id, EntryListQuery(), NOW)).items

    assert (summarized.feed_id, summarized.guid) == (feed, "tag:example.org,2026:long")
    assert summarized.summary is not None
    assert summarized.summary.startswith("Tom & Jerry run run")
    assert (len(summarized.summary) <= 1000, len(summarized.excerpt) <= 300) == (True, True)
    assert (plain.summary, plain.excerpt, plain.created_at) == (None, "plain", to_iso(library.now))


async def test_every_view_of_every_scope_has_its_entries_in_both_orders(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice = await library.person()
    first, second, third = [await library.feed(name) for name in ("one", "two", "three")]
    one, two = await library.subscribe(alice, first), await library.subscribe(alice, second)
    came = zip([first, second, first, second, third], "abcde", strict=True)
    [[a], [b], [c], [d], _] = [await library.arrive(feed, title) for feed, title in came]
    label = (await add_label(any_db, alice.id, "red")).id
    await apply_marks(any_db, alice.id, [a, d], EntryMarks(read=True), NOW)
    await apply_marks(any_db, alice.id, [b, c], EntryMarks(starred=True, later=True), NOW)
    await apply_marks(any_db, alice.id, [a, c], EntryMarks(add_labels=(label,)), NOW)

    seen = {
        (view, len(ids or ()), labelled is not None): "".join(
            await _walk(any_db, alice, view, EntryScope(ids, labelled))
        )
        for view, ids, labelled in product(EntryView, (None, (one,), (one, two)), (None, label))
    }

    marked = {
        EntryView.UNREAD: "cb",
        EntryView.ALL: "dcba",
        EntryView.STARRED: "cb",
        EntryView.LATER: "cb",
        EntryView.HISTORY: "da",
    }
    of_one, red = set("ac"), set("ac")
    assert seen == {
        (view, count, labelled): "".join(
            title for title in titles if (count != 1 or title in of_one) and (not labelled or title in red)
        )
        for (view, titles), count, labelled in product(marked.items(), (0, 1, 2), (False, True))
    }
    for view, titles in marked.items():
        assert await _walk(any_db, alice, view, ALL_ENTRIES, EntryOrder.OLDEST) == list(reversed(titles))


@pytest.mark.parametrize("view", [EntryView.UNREAD, EntryView.ALL])
async def test_a_list_since_a_time_has_nothing_older_in_either_order(db: Database, view: EntryView) -> None:
    library = SmallLibrary(db)
    alice = await library.person()
    feed = await library.feed("one")
    await library.subscribe(alice, feed)
    for hour in range(6):
        await library.arrive(feed, str(hour), at=NOW + HOUR * hour)

    async def pages(order: EntryOrder) -> list[list[str]]:
        first = await list_entries(db, alice.id, EntryListQuery(view, order=order, most=2, since=NOW + HOUR * 3), NOW)
        rest = EntryListQuery(view, order=order, beyond=from_cursor(first.next or ""), since=NOW + HOUR * 3)
        second = await list_entries(db, alice.id, rest, NOW)
        assert second.next is None
        return [[item.title for item in page.items] for page in (first, second)]

    assert await pages(EntryOrder.NEWEST) == [["5", "4"], ["3"]]
    assert await pages(EntryOrder.OLDEST) == [["3", "4"], ["5"]]


@pytest.mark.parametrize("view", [EntryView.UNREAD, EntryView.ALL])
@pytest.mark.parametrize("order", EntryOrder)
async def test_a_list_merged_from_feeds_equals_one_list(db: Database, view: EntryView, order: EntryOrder) -> None:
    library = SmallLibrary(db)
    alice = await library.person()
    feeds = [await library.feed(f"f{number}") for number in range(4)]
    subscribed = tuple([await library.subscribe(alice, feed) for feed in feeds])
    # A busy feed, a slow one, an empty one, and times that several entries share.
    for number in range(30):
        await library.arrive(feeds[0], f"busy {number:02}", at=NOW + HOUR * (number // 3))
    await library.arrive(feeds[1], "lazy old", at=NOW - 30 * DAY)
    await library.arrive(feeds[1], "lazy new", at=NOW + HOUR * 5)
    await library.arrive(feeds[2], *(f"both {number}" for number in range(9)), at=NOW + HOUR * 5)

    walked = await _walk(db, alice, view, EntryScope(subscribed), order, page=4)
    plain = await _walk(db, alice, view, ALL_ENTRIES, order, page=100)

    assert len(walked) == len(set(walked)) == 41
    assert walked == plain


@pytest.mark.parametrize("view", [EntryView.UNREAD, EntryView.ALL])
async def test_undated_entries_of_a_first_fetch_are_paged_below_all_dates(any_db: Database, view: EntryView) -> None:
    library = SmallLibrary(any_db)
    alice, first, second = await library.person(), await library.feed("one"), await library.feed("two")
    subscribed = (await library.subscribe(alice, first), await library.subscribe(alice, second))
    undated = {"sort_at": BELOW_ALL_DATES, "undated": True}
    await library.arrive(first, "a", "b", "c", at=NOW, **undated)
    await library.arrive(second, "d", "e", at=NOW, **undated)
    await library.arrive(first, "old", at=NOW - 9000 * DAY)
    await library.arrive(second, "found", at=NOW, undated=True)

    newest = ["found", "old", "e", "d", "c", "b", "a"]
    for scope in (ALL_ENTRIES, EntryScope(subscribed)):
        assert await _walk(any_db, alice, view, scope, page=2) == newest
        assert await _walk(any_db, alice, view, scope, EntryOrder.OLDEST, page=2) == newest[::-1]
    today = await list_entries(any_db, alice.id, EntryListQuery(view, since=NOW - HOUR), NOW)
    assert [(item.title, item.undated) for item in today.items] == [("found", True)]


async def test_no_page_repeats_or_skips_while_entries_arrive(db: Database) -> None:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    there = [f"there {number}" for number in range(20)]
    await library.arrive(feed, *there)
    seen, beyond = list[str](), None

    for number in range(5):
        page = await _page(db, alice, EntryListQuery(EntryView.UNREAD, beyond=beyond, most=4))
        seen += [item.title for item in page.items]
        beyond = from_cursor(page.next) if page.next else None
        await library.arrive(feed, f"on top {number}", at=NOW)
        await library.arrive(feed, f"deep down {number}", at=NOW - 100 * DAY - HOUR * number)

    assert seen == list(reversed(there))
    assert beyond is not None


async def test_a_page_does_not_count_later_entries_as_seen(db: Database) -> None:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    [first] = await library.arrive(feed, "first")

    page = await _page(db, alice, EntryListQuery())
    [second] = await library.arrive(feed, "second", at=NOW - 100 * DAY)

    assert first <= page.as_of < second


async def test_an_entry_without_a_summary_shows_the_beginning_of_its_text(db: Database) -> None:
    library = SmallLibrary(db)
    alice, feed = await library.person("alice"), await library.feed()
    await library.subscribe(alice, feed)
    await library.arrive(feed, "a", content_html=f"<p>It began <b>well</b>.</p><p>{'and went on ' * 500}")

    [seen] = (await _page(db, alice, EntryListQuery(EntryView.ALL))).items

    assert seen.excerpt.startswith("It began well. and went on")
    assert len(seen.excerpt) <= 300


async def test_a_row_has_the_marks_of_its_reader_only(db: Database) -> None:
    library = SmallLibrary(db)
    alice, bob, feed = await library.person("alice"), await library.person("bob"), await library.feed()
    hers, _ = await library.subscribe(alice, feed, title="Mine"), await library.subscribe(bob, feed)
    [entry] = await library.arrive(feed, "a", summary="<p>In&nbsp;short</p>")
    label = (await add_label(db, alice.id, "red")).id
    await apply_marks(
        db, alice.id, [entry], EntryMarks(read=True, starred=True, later=NOW + DAY, add_labels=(label,)), NOW
    )

    [seen] = (await _page(db, alice, EntryListQuery(EntryView.ALL))).items
    [of_bob] = (await _page(db, bob, EntryListQuery(EntryView.ALL))).items

    assert (seen.subscription_id, seen.feed_title, seen.excerpt) == (hers, "Mine", "In short")
    assert (seen.unread, seen.starred, seen.later, [one.name for one in seen.labels]) == (False, True, True, ["red"])
    assert seen.later_until == "2026-02-19T08:30:00.000Z"
    assert (of_bob.unread, of_bob.starred, of_bob.later, of_bob.labels) == (True, False, False, ())


async def test_titles_are_plain_text(db: Database) -> None:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    await library.arrive(feed, "Fish &amp; <b>chips</b>\n at   noon")

    [item] = (await _page(db, alice, EntryListQuery())).items

    assert item.title == "Fish & chips at noon"


async def test_kept_entries_stay_after_unsubscribing_and_the_rest_is_gone(db: Database) -> None:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    hers = await library.subscribe(alice, feed)
    starred, later, labelled, read = await library.arrive(feed, "starred", "later", "labelled", "read")
    label = (await add_label(db, alice.id, "red")).id
    await apply_marks(db, alice.id, [starred], EntryMarks(starred=True), NOW)
    await apply_marks(db, alice.id, [later], EntryMarks(later=True), NOW)
    await apply_marks(db, alice.id, [labelled], EntryMarks(add_labels=(label,)), NOW)
    await apply_marks(db, alice.id, [starred, read], EntryMarks(read=True), NOW)

    await db.batch(steps_to_drop_subscription(alice.id, hers))

    assert await _walk(db, alice, EntryView.STARRED) == ["starred"]
    assert await _walk(db, alice, EntryView.LATER) == ["later"]
    assert await _walk(db, alice, EntryView.ALL, EntryScope(label_id=label)) == ["labelled"]
    assert await _walk(db, alice, EntryView.HISTORY) == ["starred"]
    assert await _walk(db, alice, EntryView.ALL) == await _walk(db, alice, EntryView.UNREAD) == []


async def test_read_later_ends_at_its_time(db: Database) -> None:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    [entry] = await library.arrive(feed, "a")
    await apply_marks(db, alice.id, [entry], EntryMarks(later=NOW + HOUR), NOW)

    before = await list_entries(db, alice.id, EntryListQuery(EntryView.LATER), NOW + HOUR - timedelta(minutes=1))
    after = await list_entries(db, alice.id, EntryListQuery(EntryView.LATER), NOW + HOUR)

    assert ([item.id for item in before.items], after.items) == ([entry], [])


async def test_a_folder_includes_its_subfolders(db: Database) -> None:
    library = SmallLibrary(db)
    alice = await library.person()
    feeds = [await library.feed(name) for name in ("one", "two", "three")]
    one, two, _ = [await library.subscribe(alice, feed) for feed in feeds]
    for feed, title in zip(feeds, "abc", strict=True):
        await library.arrive(feed, title)
    top = await library.folder(alice, "top", one)
    await library.folder(alice, "below", two, one, parent_id=top)

    scope = await find_scope(db, alice.id, None, top, None)

    assert await _walk(db, alice, EntryView.UNREAD, scope) == await _walk(db, alice, EntryView.ALL, scope) == ["b", "a"]


async def test_an_empty_folder_is_empty(db: Database) -> None:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    await library.arrive(feed, "a")
    folder = await library.folder(alice, "empty")

    scope = await find_scope(db, alice.id, None, folder, None)

    assert [await _walk(db, alice, view, scope) for view in EntryView] == [[], [], [], [], []]


async def test_another_users_scope_is_indistinguishable_from_a_missing_one(db: Database) -> None:
    library = SmallLibrary(db)
    alice, charlie, feed = await library.person("alice"), await library.person("charlie"), await library.feed()
    hers = await library.subscribe(alice, feed)
    folder, label = await library.folder(alice, "f", hers), (await add_label(db, alice.id, "red")).id

    asked = [(hers, None, None), (None, folder, None), (None, None, label)]
    said = await asyncio.gather(
        *(find_scope(db, charlie.id, *one) for one in asked),
        *(find_scope(db, charlie.id, *(id and id + 1000 for id in one)) for one in asked),
        return_exceptions=True,
    )

    assert [type(one) for one in said] == [NotFound] * 6
    assert [str(one) for one in said[:3]] == [str(one) for one in said[3:]]


def test_a_cursor_continues_at_its_position() -> None:
    place = ListPosition("2026-02-18T08:30:00.000Z", 2**53 - 1)

    assert from_cursor(to_cursor(place)) == place


@pytest.mark.parametrize("cursor", ["", "x", "!!!", "äöü", "AAAA", "a" * 1000, to_cursor(ListPosition("yesterday", 1))])
def test_an_invalid_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(NotFound):
        from_cursor(cursor)


async def _page(db: Database, user: User, wanted: EntryListQuery) -> EntryListPage:
    return await list_entries(db, user.id, wanted, NOW)


async def _walk(
    db: Database,
    user: User,
    view: EntryView,
    scope: EntryScope = ALL_ENTRIES,
    order: EntryOrder = EntryOrder.NEWEST,
    page: int = 2,
) -> list[str]:
    """All titles of a list, page by page."""
    items, beyond, more = list[EntrySummary](), None, True
    while more:
        got = await _page(db, user, EntryListQuery(view, scope, order, beyond, page))
        items += got.items
        more = got.next is not None
        beyond = from_cursor(got.next) if got.next else None
    return [item.title for item in items]
