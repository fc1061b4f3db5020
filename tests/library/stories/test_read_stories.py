"""Reading one entry of a story reads all of it, if the user wants that; counts stay exact, and undo gives all back."""

import pytest

from feedmill.library.entries.changed_entries import changes_since
from feedmill.library.entries.labels import ensure_label
from feedmill.library.entries.list_entries import EntryListQuery, list_entries
from feedmill.library.entries.marks import (
    apply_marks,
    apply_marks_with_undo,
    mark_all_read,
    mark_side_read,
    undo_mark_all_read,
)
from feedmill.library.entries.new_entries import cursor_of_now
from feedmill.model.entry_lists import EntryScope, EntryView
from feedmill.model.entry_marks import EntryMarks, MarkAllRead
from feedmill.model.user import User
from feedmill.store.database import Database
from tests.library.small_library import DAY, HOUR, NOW
from tests.library.stories.story_library import StoryLibrary

READ = EntryMarks(read=True, whole_stories=True)


@pytest.fixture
def library(db: Database) -> StoryLibrary:
    return StoryLibrary(db)


async def _bridge_and_others(library: StoryLibrary, *names: str) -> User:
    """A user with these feeds; all of them have the bridge, and each an entry of its own."""
    alice = await library.person()
    await library.have(alice, *names)
    for name in names:
        await library.publish(name, "bridge", f"only {name}")
    return alice


async def _unread(library: StoryLibrary, user: User) -> set[str]:
    return set(await library.listed(user, stories_once=False))


async def test_reading_one_reads_all_and_counts_are_exact(any_db: Database) -> None:
    library = StoryLibrary(any_db)
    alice = await _bridge_and_others(library, "one", "two", "three")

    await apply_marks(any_db, alice.id, [library.entries["two: bridge"]], READ, NOW)
    await apply_marks(any_db, alice.id, [library.entries["two: bridge"]], READ, NOW)

    assert await _unread(library, alice) == {"one: only one", "two: only two", "three: only three"}
    assert await library.unread_of(alice) == (3, 3)


async def test_only_the_one_that_was_opened_is_in_the_history(library: StoryLibrary) -> None:
    alice = await _bridge_and_others(library, "one", "two")

    await apply_marks(library.db, alice.id, [library.entries["one: bridge"]], READ, NOW)

    history = await list_entries(library.db, alice.id, EntryListQuery(EntryView.HISTORY), NOW)
    assert [entry.id for entry in history.items] == [library.entries["one: bridge"]]


async def test_a_mark_without_the_wish_marks_one_entry(library: StoryLibrary) -> None:
    alice = await _bridge_and_others(library, "one", "two")

    await apply_marks(library.db, alice.id, [library.entries["one: bridge"]], EntryMarks(read=True), NOW)

    assert "two: bridge" in await _unread(library, alice)


async def test_stars_and_labels_stay_with_their_entry(library: StoryLibrary) -> None:
    alice = await _bridge_and_others(library, "one", "two")
    label = await ensure_label(library.db, alice.id, "good")
    marks = EntryMarks(read=True, starred=True, later=True, add_labels=(label,), whole_stories=True)

    await apply_marks(library.db, alice.id, [library.entries["one: bridge"]], marks, NOW)

    for view in (EntryView.STARRED, EntryView.LATER):
        assert await library.listed(alice, view) == ["one: bridge"]
    assert await library.listed(alice, EntryView.ALL, scope=EntryScope(label_id=label)) == ["one: bridge"]


async def test_what_another_user_reads_stays_unread(library: StoryLibrary) -> None:
    alice = await _bridge_and_others(library, "one", "two")
    bob = await library.person("bob")
    await library.have(bob, "one", "two")
    await library.publish("one", "tunnel")
    await library.publish("two", "tunnel")

    await apply_marks(library.db, bob.id, [library.entries["one: tunnel"]], READ, NOW)

    assert await library.unread_of(bob) == (0, 0)
    assert await library.unread_of(alice) == (6, 6)


async def test_feeds_that_are_left_out_are_not_read_with_others(library: StoryLibrary) -> None:
    alice = await _bridge_and_others(library, "one", "two", "three")
    await library.leave_out(alice, "three")

    await apply_marks(library.db, alice.id, [library.entries["one: bridge"]], READ, NOW)
    assert {"three: bridge"} == {name for name in await _unread(library, alice) if "bridge" in name}

    await apply_marks(library.db, alice.id, [library.entries["three: bridge"]], READ, NOW)
    assert await library.unread_of(alice) == (3, 3)


async def test_programs_learn_that_the_others_were_read(library: StoryLibrary) -> None:
    alice = await _bridge_and_others(library, "one", "two")
    start = await cursor_of_now(library.db, alice.id, NOW)

    await apply_marks(library.db, alice.id, [library.entries["one: bridge"]], READ, NOW + HOUR)

    changed = await changes_since(library.db, alice.id, start, NOW + HOUR)
    ids = {library.entries[f"{name}: bridge"] for name in ("one", "two")}
    assert {entry.id: entry.unread for entry in changed.items} == dict.fromkeys(ids, False)


async def test_undo_gives_all_back(any_db: Database) -> None:
    library = StoryLibrary(any_db)
    alice = await _bridge_and_others(library, "one", "two", "three")
    await apply_marks(any_db, alice.id, [library.entries["three: bridge"]], EntryMarks(read=True), NOW)
    before = await _unread(library, alice)

    done = await apply_marks_with_undo(any_db, alice.id, [library.entries["one: bridge"]], READ, NOW)
    assert done.marked == 2
    assert await library.unread_of(alice) == (3, 3)
    await undo_mark_all_read(any_db, alice.id, done.undo, NOW)

    assert await _unread(library, alice) == before
    assert await library.unread_of(alice) == (5, 5)


# --- mark all read -------------------------------------------------------------------------------------------


async def test_a_folder_that_is_marked_read_reads_its_stories_everywhere(any_db: Database) -> None:
    library = StoryLibrary(any_db)
    alice = await _bridge_and_others(library, "one", "two", "three")
    # The story began in another folder.
    scope = await library.scope(alice, "two")

    done = await mark_all_read(any_db, alice.id, MarkAllRead(scope, whole_stories=True), NOW)

    assert done.marked == 4
    assert await _unread(library, alice) == {"one: only one", "three: only three"}
    assert await library.unread_of(alice) == (2, 2)
    await undo_mark_all_read(any_db, alice.id, done.undo, NOW)
    assert await library.unread_of(alice) == (6, 6)


async def test_marking_most_of_a_list_reads_stories_too(any_db: Database) -> None:
    """More is marked than kept, so that what is kept moves to another list."""
    library = StoryLibrary(any_db)
    alice = await _bridge_and_others(library, "one", "two", "three")
    scope = await library.scope(alice, "one", "two")

    done = await mark_all_read(any_db, alice.id, MarkAllRead(scope, whole_stories=True), NOW)

    assert done.marked == 5
    assert await _unread(library, alice) == {"three: only three"}
    assert await library.unread_of(alice) == (1, 1)
    await undo_mark_all_read(any_db, alice.id, done.undo, NOW)
    assert await library.unread_of(alice) == (6, 6)


async def test_a_list_of_a_time_that_is_marked_read_reads_its_stories_from_before(any_db: Database) -> None:
    library = StoryLibrary(any_db)
    alice = await library.person()
    await library.have(alice, "one", "two")
    await library.publish("one", "bridge", "only one", at=NOW - DAY)
    await library.publish("two", "bridge", at=NOW)

    await mark_all_read(any_db, alice.id, MarkAllRead(since=NOW - HOUR, whole_stories=True), NOW)

    assert await _unread(library, alice) == {"one: only one"}


async def test_without_the_wish_only_the_folder_is_marked(library: StoryLibrary) -> None:
    alice = await _bridge_and_others(library, "one", "two")

    await mark_all_read(library.db, alice.id, MarkAllRead(await library.scope(alice, "one")), NOW)

    assert await _unread(library, alice) == {"two: bridge", "two: only two"}


async def test_a_copy_that_came_while_the_user_looked_is_read_with_its_story(library: StoryLibrary) -> None:
    alice = await library.person()
    await library.have(alice, "one", "two")
    await library.publish("one", "bridge")
    seen = library.entries["one: bridge"]
    await library.publish("two", "bridge", "tunnel")

    await mark_all_read(library.db, alice.id, MarkAllRead(up_to=seen, whole_stories=True), NOW)

    assert await _unread(library, alice) == {"two: tunnel"}


@pytest.mark.parametrize("above", [True, False])
async def test_what_is_marked_above_or_below_leaves_the_stories_of_the_rest(library: StoryLibrary, above: bool) -> None:
    """A copy stands where it would be read, but the list shows its story at the place of the first."""
    alice = await library.person()
    await library.have(alice, "one", "two", "three")
    await library.publish("one", "bridge")
    await library.publish("three", "between")
    await library.publish("two", "bridge", "new")
    within = EntryListQuery(EntryView.UNREAD, stories_once=True)
    assert await library.listed(alice) == ["two: new", "three: between", "one: bridge"]

    between = library.entries["three: between"]
    done = await mark_side_read(library.db, alice.id, within, between, NOW, above=above, up_to=None)

    left = ["three: between", "one: bridge"] if above else ["two: new", "three: between"]
    assert await library.listed(alice) == left
    listed, counted = await library.unread_of(alice)
    assert listed == counted
    await undo_mark_all_read(library.db, alice.id, done.undo, NOW)
    assert await library.unread_of(alice) == (4, 4)
