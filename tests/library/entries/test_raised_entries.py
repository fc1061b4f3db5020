"""Entries that filters raised: lists of unread entries show them first, and each entry once."""

from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import product
from typing import Any

import pytest

from feedmill.library.cursors import BadCursor, cursor_at, from_list_cursor, to_list_cursor
from feedmill.library.entries.article import find_entry, neighbours
from feedmill.library.entries.list_around import list_around
from feedmill.library.entries.list_entries import EntryListPage, EntryListQuery, list_entries, list_raised
from feedmill.library.entries.marks import apply_marks
from feedmill.library.filters.effects import undo_effect
from feedmill.library.filters.manage_filters import create_filter
from feedmill.model.entry_lists import EntryOrder, EntryScope, EntryView, ListCursor, ListPosition, RaisedRange
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.filters.entry_filter import FilterAction, FilterActions, FilterDraft
from feedmill.model.timestamps import to_iso
from feedmill.model.user import Caller, User
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.entries.labels import add_label
from feedmill.store.filters import raised_entries
from feedmill.store.schema import filter_effects, story_entries
from tests.library.small_library import HOUR, NOW, SmallLibrary

MINUTE = timedelta(minutes=1)
FIRST = EntryListQuery(raised_first=50)


@dataclass
class RaisedLibrary(SmallLibrary):
    """Alice has two feeds; her entries are named by letters."""

    async def open(self) -> "RaisedLibrary":
        self.alice = await self.person()
        self.feeds = [await self.feed(name) for name in ("one", "two")]
        self.subscriptions = [await self.subscribe(self.alice, feed) for feed in self.feeds]
        self.ids: dict[str, int] = {}
        for number, title in enumerate("abcdefgh"):
            [self.ids[title]] = await self.arrive(self.feeds[number % 2], title)
        return self

    async def raise_entries(self, titles: str, user: User | None = None, at: timedelta = -MINUTE) -> None:
        user = user or self.alice
        draft = FilterDraft("Raised", "x", actions=FilterActions(raise_to_top=True))
        made = await create_filter(self.db, Caller(user, user.scopes), draft, NOW)
        rows = [
            {"user_id": user.id, "action": "raise", "entry_id": self.ids[title], "filter_id": made.id}
            | {"at": to_iso(NOW + at)}
            for title in titles
        ]
        await self.db.batch([Step(insert(filter_effects, *rows[0]), rows)])

    async def read(self, titles: str) -> None:
        await apply_marks(self.db, self.alice.id, [self.ids[title] for title in titles], EntryMarks(read=True), NOW)

    async def page(self, query: EntryListQuery = FIRST) -> EntryListPage:
        return await list_entries(self.db, self.alice.id, query, NOW)

    async def walk(self, query: EntryListQuery = FIRST) -> str:
        """All titles of a list, page by page."""
        page = await self.page(query)
        titles = names(page)
        while page.next is not None:
            page = await self.page(after(query, page))
            titles += names(page)
        return titles

    async def beside(self, title: str, query: EntryListQuery = FIRST) -> tuple[str | None, str | None]:
        by_id = {id: each for each, id in self.ids.items()}
        entry = await find_entry(self.db, self.alice.id, self.ids[title])
        found = await neighbours(self.db, self.alice.id, entry, query, NOW, is_raised=title in "bdg")
        return by_id.get(found[0] or 0), by_id.get(found[1] or 0)


def names(page: EntryListPage) -> str:
    return "".join(item.title for item in page.items)


def after(query: EntryListQuery, page: EntryListPage) -> EntryListQuery:
    last = from_list_cursor(page.next or "")
    return replace(query, beyond=last.position, raised=last.raised)


@pytest.fixture
async def library(any_db: Database) -> RaisedLibrary:
    library = await RaisedLibrary(any_db).open()
    await library.raise_entries("bdg")
    return library


async def test_raised_entries_come_first_and_each_entry_comes_once(library: RaisedLibrary) -> None:
    label = (await add_label(library.db, library.alice.id, "red")).id
    marked = [library.ids[title] for title in "abcd"]
    await apply_marks(library.db, library.alice.id, marked, EntryMarks(add_labels=(label,)), NOW)
    one, two = library.subscriptions
    scopes = {
        "all": EntryScope(),
        "a feed": EntryScope((two,)),
        "a folder": EntryScope((one, two)),
        "a label": EntryScope(label_id=label),
    }

    seen = {
        (name, order): {await library.walk(replace(FIRST, scope=scope, order=order, most=most)) for most in (1, 2, 50)}
        for (name, scope), order in product(scopes.items(), EntryOrder)
    }

    assert seen == {
        ("all", EntryOrder.NEWEST): {"gdbhfeca"},
        ("all", EntryOrder.OLDEST): {"bdgacefh"},
        ("a feed", EntryOrder.NEWEST): {"dbhf"},
        ("a feed", EntryOrder.OLDEST): {"bdfh"},
        ("a folder", EntryOrder.NEWEST): {"gdbhfeca"},
        ("a folder", EntryOrder.OLDEST): {"bdgacefh"},
        ("a label", EntryOrder.NEWEST): {"dbca"},
        ("a label", EntryOrder.OLDEST): {"bdac"},
    }


async def test_a_page_counts_what_it_shows_first_and_entries_say_that_they_are_raised(library: RaisedLibrary) -> None:
    page = await library.page(replace(FIRST, most=4))
    rest = await library.page(after(FIRST, page))

    assert (names(page), page.raised_count) == ("gdbh", 3)
    assert [item.raised for item in page.items] == [True, True, True, False]
    assert (names(rest), rest.raised_count) == ("feca", 0)


async def test_only_as_many_as_wanted_come_first_and_the_others_stay_in_their_places(library: RaisedLibrary) -> None:
    for most in (1, 2, 3, 50):
        assert await library.walk(replace(FIRST, raised_first=2, most=most)) == "gdhfecba"
        assert await library.walk(replace(FIRST, raised_first=2, most=most, order=EntryOrder.OLDEST)) == "bdacefgh"


async def test_only_the_newest_that_filters_raised_are_looked_at(
    library: RaisedLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raised_entries, "MOST_LOOKED_AT", 2)
    for statement in (raised_entries.raised_statement, raised_entries.shown_statement):
        statement.cache_clear()
    try:
        assert await library.walk(replace(FIRST, most=2)) == "gdhfecba"
    finally:
        for statement in (raised_entries.raised_statement, raised_entries.shown_statement):
            statement.cache_clear()


async def test_what_was_read_falls_back_to_its_place(library: RaisedLibrary) -> None:
    await library.read("d")

    assert await library.walk() == "gbhfeca"
    assert await library.walk(replace(FIRST, view=EntryView.ALL)) == "hgfedcba"


async def test_what_is_read_between_two_pages_moves_no_other_entry(library: RaisedLibrary) -> None:
    query = replace(FIRST, raised_first=2, most=3)
    first = await library.page(query)
    await library.read("gdh")

    rest = await library.page(after(replace(query, most=50), first))

    assert names(first) + names(rest) == "gdhfecba"


async def test_what_is_raised_between_two_pages_stays_in_its_place(library: RaisedLibrary) -> None:
    first = await library.page(replace(FIRST, most=4))
    await library.raise_entries("ce", at=MINUTE)

    rest = await library.page(after(FIRST, first))

    assert names(first) + names(rest) == "gdbhfeca"


async def test_what_is_taken_back_is_not_first_any_more(library: RaisedLibrary) -> None:
    await undo_effect(library.db, library.alice.id, library.ids["d"], FilterAction.RAISE, 0, NOW)

    assert await library.walk() == "gbhfedca"


async def test_filters_of_others_raise_nothing(library: RaisedLibrary) -> None:
    charlie = await library.person("charlie")
    await library.subscribe(charlie, library.feeds[0])
    await library.raise_entries("ae", charlie)

    page = await library.page()

    assert (names(page), page.raised_count) == ("gdbhfeca", 3)
    assert not any(item.raised for item in page.items if item.title in "ae")


async def test_a_list_with_a_beginning_shows_first_only_what_belongs_to_it(library: RaisedLibrary) -> None:
    [newest] = [item for item in (await library.page()).items if item.title == "d"]
    [since] = [NOW - 30 * 24 * HOUR + HOUR * number for number in (4,)]

    assert newest.sort_at == to_iso(since)
    assert await library.walk(replace(FIRST, since=since)) == "gdhfe"
    assert await library.walk(replace(FIRST, since=since, order=EntryOrder.OLDEST)) == "dgefh"


async def test_a_story_is_shown_once_also_if_filters_raised_all_of_it(library: RaisedLibrary) -> None:
    rows: list[dict[str, Any]] = [{"entry_id": library.ids[title], "story_id": 1} for title in "dg"]
    await library.db.batch([Step(insert(story_entries, *rows[0]), rows)])

    assert await library.walk(replace(FIRST, stories_once=True)) == "dbhfeca"


@pytest.mark.parametrize("most", [2, 50])
async def test_a_raised_copy_stands_first_and_the_story_is_shown_once(library: RaisedLibrary, most: int) -> None:
    """The first of the story was not raised: it stands at its usual place when the other is read."""
    rows: list[dict[str, Any]] = [{"entry_id": library.ids[title], "story_id": 1} for title in "ad"]
    await library.db.batch([Step(insert(story_entries, *rows[0]), rows)])
    once = replace(FIRST, stories_once=True, most=most)

    assert await library.walk(once) == "gdbhfec"
    assert names(await list_raised(library.db, library.alice.id, replace(once, most=50), NOW)) == "gdb"
    around = await list_around(library.db, library.alice.id, once, library.ids["c"], 20, NOW)
    assert names(around) == "gdbhfec"
    assert await library.beside("c", once) == ("e", None)
    await library.read("d")
    assert await library.walk(once) == "gbhfeca"


async def test_a_raised_copy_of_another_list_leaves_an_entry_at_its_place(library: RaisedLibrary) -> None:
    rows: list[dict[str, Any]] = [{"entry_id": library.ids[title], "story_id": 1} for title in "ad"]
    await library.db.batch([Step(insert(story_entries, *rows[0]), rows)])
    of_one = EntryScope(subscription_ids=(library.subscriptions[0],))

    assert await library.walk(replace(FIRST, stories_once=True, scope=of_one, most=2)) == "geca"


async def test_neighbours_follow_the_list_also_after_they_were_read(library: RaisedLibrary) -> None:
    walked = [await library.beside(title) for title in "gdbhfeca"]
    await library.read("gdbh")

    assert walked == [*zip([None, *"gdbhfec"], [*"dbhfeca", None], strict=True)]
    assert await library.beside("d") == (None, "f")
    assert await library.beside("f") == (None, "e")


async def test_a_page_around_an_entry_shows_it_where_it_was(library: RaisedLibrary) -> None:
    async def around(title: str, before: int = 20) -> tuple[str, int]:
        page = await list_around(library.db, library.alice.id, FIRST, library.ids[title], before, NOW)
        return names(page), page.raised_count

    await library.read("df")

    assert await around("d") == ("gdbheca", 3)
    assert await around("f") == ("gbhfeca", 2)
    assert await around("c", before=1) == ("eca", 0)


async def test_raised_entries_alone_are_a_list_with_pages(library: RaisedLibrary) -> None:
    query = EntryListQuery(most=2)

    first = await list_raised(library.db, library.alice.id, query, NOW)
    rest = await list_raised(library.db, library.alice.id, after(query, first), NOW)

    assert (names(first), names(rest), rest.next) == ("gd", "b", None)
    assert first.as_of == library.ids["h"]


@pytest.mark.parametrize("raised", [None, RaisedRange(ListPosition(to_iso(NOW), 2**53 - 1), 2**53 - 1, to_iso(NOW))])
def test_a_cursor_says_what_was_shown_first(raised: RaisedRange | None) -> None:
    place = ListCursor(ListPosition(to_iso(NOW), 2**53 - 1), raised)

    assert from_list_cursor(to_list_cursor(place)) == place
    assert len(to_list_cursor(place)) < 200


@pytest.mark.parametrize("rest", ["", " ", f" {to_iso(NOW)}", f" {to_iso(NOW)} {2**53} 1 {to_iso(NOW)}"])
def test_other_cursors_are_refused(rest: str) -> None:
    with pytest.raises(BadCursor):
        from_list_cursor(cursor_at(f"{to_iso(NOW)} {2**53 if not rest else 1}{rest}"))
