"""Marks of many entries: of one side of a list, and of a selection, each undone as it was."""

import pytest
from sqlalchemy import select

from feedmill.errors import NotFound
from feedmill.library.entries.list_entries import EntryListQuery, list_entries
from feedmill.library.entries.marks import apply_marks, apply_marks_with_undo, mark_side_read, undo_mark_all_read
from feedmill.model.entry_lists import EntryOrder, EntryScope, EntryView
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.user import User
from feedmill.store.database import Database
from feedmill.store.entries.drop_unused_unread_lists import drop_retired_lists
from feedmill.store.entries.labels import add_label
from feedmill.store.schema import entry_labels, states, unread_lists
from tests.library.small_library import DAY, HOUR, NOW, SmallLibrary

NEWEST, OLDEST = EntryOrder.NEWEST, EntryOrder.OLDEST


async def shelf(db: Database) -> tuple[SmallLibrary, User, list[int], EntryScope]:
    """Alice with two feeds: `a` to `e`, each newer than the one before, and the older `x`. The scope is the first."""
    library = SmallLibrary(db)
    alice, one, other = await library.person(), await library.feed("one"), await library.feed("other")
    scope = EntryScope((await library.subscribe(alice, one),))
    await library.subscribe(alice, other)
    await library.arrive(other, "x", at=NOW - 90 * DAY)
    return library, alice, await library.arrive(one, *"abcde"), scope


async def unread_titles(db: Database, user: User) -> str:
    page = await list_entries(db, user.id, EntryListQuery(order=OLDEST), NOW)
    return "".join(entry.title for entry in page.items)


@pytest.mark.parametrize(
    ("order", "above", "left"), [(NEWEST, True, "xabc"), (NEWEST, False, "cde"), (OLDEST, True, "cde")]
)
async def test_one_side_of_an_entry_is_marked_by_the_order_of_the_list_and_undone(
    any_db: Database, order: EntryOrder, above: bool, left: str
) -> None:
    library, alice, ids, _ = await shelf(any_db)
    within = EntryListQuery(EntryView.ALL, order=order)

    marked = await mark_side_read(any_db, alice.id, within, ids[2], NOW, above=above, up_to=None)

    assert (await unread_titles(any_db, alice), marked.marked) == (left, 6 - len(left))
    assert await library.unread_of(alice) == (len(left), len(left))
    await undo_mark_all_read(any_db, alice.id, marked.undo, NOW)
    assert await unread_titles(any_db, alice) == "xabcde"


async def test_a_side_ends_at_the_scope_of_the_list_and_at_what_it_had(any_db: Database) -> None:
    _, alice, ids, scope = await shelf(any_db)
    within = EntryListQuery(EntryView.UNREAD, scope, OLDEST)

    await mark_side_read(any_db, alice.id, within, ids[2], NOW, above=True, up_to=None)
    await mark_side_read(any_db, alice.id, within, ids[2], NOW, above=False, up_to=ids[3])

    assert await unread_titles(any_db, alice) == "xce"


async def test_entries_of_one_time_are_told_apart_by_their_ids(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    ids = sorted(await library.arrive(feed, *"abc", at=NOW))

    marked = await mark_side_read(any_db, alice.id, EntryListQuery(), ids[1], NOW, above=True, up_to=None)

    left = (await list_entries(any_db, alice.id, EntryListQuery(), NOW)).items
    assert ([entry.id for entry in left], marked.marked) == ([ids[1], ids[0]], 1)


@pytest.mark.parametrize("view", [EntryView.STARRED, EntryView.LATER])
async def test_a_side_of_what_was_kept_goes_by_when_it_was_kept(any_db: Database, view: EntryView) -> None:
    _, alice, ids, _ = await shelf(any_db)
    for number, place in enumerate((3, 0, 4)):
        marks = EntryMarks(starred=True, later=True)
        await apply_marks(any_db, alice.id, [ids[place]], marks, NOW + number * HOUR)

    marked = await mark_side_read(any_db, alice.id, EntryListQuery(view), ids[0], NOW + DAY, above=False, up_to=None)

    assert (await unread_titles(any_db, alice), marked.marked) == ("xabce", 1)


async def test_nothing_is_marked_beside_an_entry_that_is_not_there(db: Database) -> None:
    library, alice, ids, _ = await shelf(db)
    bob = await library.person("bob")

    for user, view, id in (
        (bob, EntryView.ALL, ids[0]),
        (alice, EntryView.STARRED, ids[0]),
        (alice, EntryView.ALL, 99),
    ):
        with pytest.raises(NotFound):
            await mark_side_read(db, user.id, EntryListQuery(view), id, NOW, above=True, up_to=None)

    assert await library.unread_of(alice) == (6, 6)


async def test_a_selection_gets_back_exactly_the_marks_that_it_had(any_db: Database) -> None:
    library, alice, ids, _ = await shelf(any_db)
    red = (await add_label(any_db, alice.id, "red")).id
    await apply_marks(any_db, alice.id, ids[:2], EntryMarks(read=True, starred=True, add_labels=(red,)), NOW - DAY)
    await apply_marks(any_db, alice.id, ids[1:3], EntryMarks(later=NOW + DAY), NOW - HOUR)
    before = await marks_of(any_db)

    for marks, changed in (
        (EntryMarks(read=True), 3),
        (EntryMarks(read=False), 2),
        (EntryMarks(starred=True), 3),
        (EntryMarks(later=True), 5),
        (EntryMarks(add_labels=(red,)), 3),
    ):
        done = await apply_marks_with_undo(any_db, alice.id, ids, marks, NOW)
        assert (done.marked, await marks_of(any_db) == before) == (changed, False)
        await undo_mark_all_read(any_db, alice.id, done.undo, NOW + HOUR)
        assert await marks_of(any_db) == before
        assert await library.unread_of(alice) == (4, 4)


async def marks_of(db: Database) -> list[tuple[object, ...]]:
    """All marks that say something."""
    columns = (states.c.entry_id, states.c.read_at, states.c.starred_at, states.c.later_at, states.c.later_until)
    rows = await db.query(select(*columns).order_by(states.c.entry_id))
    labelled = await db.query(select(entry_labels.c.entry_id).order_by(entry_labels.c.entry_id))
    kept = [row for row in rows if any(row[name] for name in ("read_at", "starred_at", "later_at"))]
    return [*(tuple(row.values()) for row in kept), tuple(row["entry_id"] for row in labelled)]


async def test_what_undoes_a_selection_is_the_owners_and_goes_with_the_retired_lists(db: Database) -> None:
    library, alice, ids, _ = await shelf(db)
    bob = await library.person("bob")
    done = await apply_marks_with_undo(db, alice.id, ids, EntryMarks(read=True), NOW)

    with pytest.raises(NotFound):
        await undo_mark_all_read(db, bob.id, done.undo, NOW)
    assert await drop_retired_lists(db, NOW + HOUR) == 1
    with pytest.raises(NotFound):
        await undo_mark_all_read(db, alice.id, done.undo, NOW)

    assert await db.query(select(unread_lists.c.id).where(unread_lists.c.replaced_marks.is_not(None))) == []
    assert await library.unread_of(alice) == (1, 1)
