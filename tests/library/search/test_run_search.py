"""A user's search: the query, names of their own feeds and labels, pages, and only their own entries."""

import pytest

from feedmill.errors import NotFound
from feedmill.library.cursors import to_cursor
from feedmill.library.entries.marks import apply_marks
from feedmill.library.search.run_search import SearchRequest, count_results, run_search
from feedmill.model.entry_lists import ListPosition
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.search_query import SearchOrder
from feedmill.model.user import User
from feedmill.store.database import Database
from feedmill.store.entries.labels import add_label
from tests.library.small_library import NOW, SmallLibrary

ORDERS: tuple[SearchOrder, ...] = ("rank", "date")
LONG_ENOUGH = 60.0


async def found(db: Database, user: User, text: str, order: SearchOrder = "date") -> list[str]:
    page = await run_search(db, user.id, SearchRequest(text, order), NOW)
    return [item.title for item in page.items]


async def walked(db: Database, user: User, text: str, order: SearchOrder, most: int) -> list[str]:
    titles, cursor = list[str](), None
    while True:
        page = await run_search(db, user.id, SearchRequest(text, order, cursor, most), NOW)
        titles += [item.title for item in page.items]
        if page.next is None:
            return titles
        cursor = page.next


async def test_names_refer_to_the_users_own_feeds_folders_and_labels(db: Database) -> None:
    library = SmallLibrary(db)
    alice, bob = await library.person("alice"), await library.person("bob")
    one, two = await library.feed("one"), await library.feed("two")
    first = await library.subscribe(alice, one, "Café News")
    second = await library.subscribe(alice, two, "每日新闻")
    await library.subscribe(bob, one, "Other")
    outer = await library.folder(alice, "Outer")
    await library.folder(alice, "Inner", second, parent_id=outer)
    [a] = await library.arrive(one, "a")
    await library.arrive(two, "b")
    label = (await add_label(db, alice.id, "To Read")).id
    await apply_marks(db, alice.id, [a], EntryMarks(add_labels=(label,)), NOW)
    expected = {
        "feed:cafe": ["a"],
        "feed:新闻": ["b"],
        f"feed:{first}": ["a"],
        f"feed:{first},{second}": ["b", "a"],
        "feed:nothing": [],
        "feed:one.example": ["a"],
        "folder:outer": ["b"],
        "folder:INNER": ["b"],
        "folder:x": [],
        'label:"to read"': ["a"],
        '-#"To Read"': ["b"],
        "feed:cafe OR folder:inner": ["b", "a"],
    }

    assert {text: await found(db, alice, text) for text in expected} == expected
    assert await found(db, bob, "feed:cafe") == []
    assert await found(db, bob, "feed:other") == ["a"]
    assert await found(db, bob, f"feed:{first}") == []
    assert await found(db, bob, '#"to read"') == []


async def test_users_find_their_own_entries(db: Database) -> None:
    library = SmallLibrary(db)
    alice, bob, charlie = [await library.person(name) for name in ("alice", "bob", "charlie")]
    shared, own = await library.feed("shared"), await library.feed("own")
    await library.subscribe(alice, shared)
    await library.subscribe(alice, own)
    await library.subscribe(bob, shared)
    await library.arrive(shared, "for both", content_html="gnus")
    await library.arrive(own, "for alice", content_html="gnus")
    texts = [
        "gnus",
        "-nothing",
        "gnus OR other",
        "is:unread",
        "is:read OR is:unread",
        "in:url:example",
        "gn*",
        "on:2026",
    ]

    for order in ORDERS:
        for text in texts:
            assert sorted(await found(db, alice, text, order)) == ["for alice", "for both"], text
            assert await found(db, bob, text, order) == ["for both"], text
            assert await found(db, charlie, text, order) == [], text


@pytest.mark.parametrize("order", ORDERS)
async def test_pages_continue_and_end(db: Database, order: SearchOrder) -> None:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    await library.arrive(feed, *(f"gnus {number:02}" for number in range(20)))

    titles = await walked(db, alice, "gnus", order, 7)

    assert len(titles) == len(set(titles)) == 20
    if order == "date":
        assert titles == sorted(titles, reverse=True)


async def test_results_are_counted_up_to_a_limit_among_what_the_user_may_see(
    any_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = SmallLibrary(any_db)
    alice, bob = await library.person("alice"), await library.person("bob")
    mine, others = await library.feed("one"), await library.feed("two")
    subscription = await library.subscribe(alice, mine)
    await library.subscribe(bob, others)
    await library.arrive(mine, *(f"river {number}" for number in range(6)), "lake")
    await library.arrive(others, "river elsewhere")
    [starred] = await library.arrive(mine, "river last")
    await apply_marks(any_db, alice.id, [starred], EntryMarks(starred=True), NOW)

    async def count(user: User, text: str, within: str = "") -> int | None:
        return await count_results(any_db, user.id, SearchRequest(text, within=within), NOW, LONG_ENOUGH)

    assert [await count(alice, text) for text in ("river", "lake OR river", "river -last", "sea")] == [7, 8, 6, 0]
    assert [await count(alice, text) for text in ("is:starred", "is:unread", f"feed:{subscription} lake")] == [1, 8, 1]
    assert (await count(bob, "river"), await count(alice, "lake", f"feed:{subscription}")) == (1, 1)
    monkeypatch.setattr("feedmill.library.search.run_search.MOST_COUNTED", 3)
    assert (await count(alice, "river"), await count(alice, "is:unread")) == (4, 4)


async def test_counting_that_takes_too_long_ends_without_a_number(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    await library.arrive(feed, "river", "lake")

    counted = [await count_results(any_db, alice.id, SearchRequest("river"), NOW, seconds) for seconds in (0, 1e-9)]

    assert counted == [None, None]

    assert await walked(any_db, alice, "river", "date", 5) == ["river"]


async def test_no_input_reaches_a_database_as_its_own_query_syntax(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    await library.arrive(feed, "near a b c", content_html="it's 100% title and not or rowid select")
    finding = [
        "near",
        '"NEAR(a b)"',
        "title",
        "in:title:^near",
        "it's",
        "100%",
        "a\\",
        "a&b",
        "a|b",
        "a<->b",
        "+a",
        "~a",
        ">a <b",
        "{title}",
        "se**",
        '"a" "b"',
        "NOT",
        "a+b",
        "(a)b",
        "\x00a",
        "not*",
        "-title:near",
        "' a",
    ]
    finding_nothing = ['"title : a"', "a;drop", "ro*wid", "-title", "@1", "tznear", "xz100", "rowid:1 a*b"]

    for order in ORDERS:
        for text in finding:
            assert await found(any_db, alice, text, order) == ["near a b c"], text
        for text in finding_nothing:
            assert await found(any_db, alice, text, order) == [], text


NO_DATE = to_cursor(ListPosition("2026-13-45T99:00:00.000Z", 1))


@pytest.mark.parametrize(
    ("order", "cursor"), [("rank", "x"), ("rank", "r999999"), ("date", "r50"), ("date", "%%"), ("date", NO_DATE)]
)
async def test_a_forged_cursor_is_refused(db: Database, order: SearchOrder, cursor: str) -> None:
    alice = await SmallLibrary(db).person()

    with pytest.raises(NotFound):
        await run_search(db, alice.id, SearchRequest("a", order, cursor), NOW)


async def test_a_cursor_in_the_far_future_starts_at_the_top(db: Database) -> None:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    await library.arrive(feed, "a")
    last = to_cursor(ListPosition("9999-12-31T23:59:59.999Z", 2**53 - 1))

    page = await run_search(db, alice.id, SearchRequest("a", "date", last), NOW)

    assert [item.title for item in page.items] == ["a"]
