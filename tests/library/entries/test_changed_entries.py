"""Changes since a cursor: marks one by one, mark-all-read, and entries that are gone."""

from datetime import timedelta

import pytest

from feedmill.library.entries.changed_entries import ChangedEntries, changes_since
from feedmill.library.entries.labels import make_label
from feedmill.library.entries.list_entry_ids import entry_ids
from feedmill.library.entries.marks import (
    apply_marks,
    apply_marks_with_undo,
    mark_all_read,
    undo_mark_all_read,
)
from feedmill.library.entries.new_entries import cursor_of_now
from feedmill.library.entries.sync_cursor import SyncCursor, decode_cursor, encode_cursor
from feedmill.model.entry_lists import ALL_ENTRIES, EntryScope, EntryView
from feedmill.model.entry_marks import EntryMarks, MarkAllRead
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.store.archive.retention import drop_expired_entries
from feedmill.store.database import Database, Step
from feedmill.store.entries.marks import expire_read_later
from feedmill.store.entries.sync import changed_marks
from feedmill.store.schema import entries
from feedmill.store.subscriptions.unread_entries import steps_to_drop_subscription
from tests.library.small_library import DAY, HOUR, SmallLibrary


class Reader:
    """A program of a user that asks what changed; an hour passes before each time."""

    def __init__(self, library: SmallLibrary, user: User, cursor: SyncCursor) -> None:
        self.library, self.user, self.cursor = library, user, cursor

    async def ask(self) -> ChangedEntries:
        self.library.now += HOUR
        changed = await changes_since(self.library.db, self.user.id, self.cursor, self.library.now)
        self.cursor = decode_cursor(encode_cursor(changed.cursor))
        return changed


async def _shelf(db: Database, titles: str = "abcd") -> tuple[SmallLibrary, Reader, list[int]]:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    ids = await library.arrive(feed, *titles)
    library.now += HOUR
    return library, Reader(library, alice, await cursor_of_now(db, alice.id, library.now)), ids


async def test_every_mark_that_is_set_or_removed_is_reported_as_it_is_now(any_db: Database) -> None:
    library, reader, [a, b, c, d] = await _shelf(any_db)
    alice = reader.user.id
    label = await make_label(any_db, alice, "stone")
    nothing = await reader.ask()

    for ids, marks in (
        ([a, b], EntryMarks(read=True, starred=True)),
        ([b], EntryMarks(read=False, starred=False)),
        ([c], EntryMarks(later=True)),
        ([d], EntryMarks(add_labels=(label.id,))),
    ):
        await apply_marks(any_db, alice, ids, marks, library.now)
    first = {item.id: item for item in (await reader.ask()).items}
    await apply_marks(any_db, alice, [d], EntryMarks(remove_labels=(label.id,)), library.now)
    second = await reader.ask()
    third = await reader.ask()

    assert (nothing.items, nothing.unread_changed, nothing.more) == ([], False, False)
    assert {id: (item.unread, item.starred, item.later, len(item.labels)) for id, item in first.items()} == {
        a: (False, True, False, 0),
        b: (True, False, False, 0),
        c: (True, False, True, 0),
        d: (True, False, False, 1),
    }
    assert [(item.id, item.labels) for item in second.items] == [(d, ())]
    assert third.items == []


async def test_an_entry_that_is_marked_unread_by_the_first_mark_is_reported(any_db: Database) -> None:
    library, reader, ids = await _shelf(any_db)
    await mark_all_read(any_db, reader.user.id, MarkAllRead(), library.now)
    await reader.ask()

    await apply_marks(any_db, reader.user.id, ids[:1], EntryMarks(read=False), library.now)

    assert [(item.id, item.unread) for item in (await reader.ask()).items] == [(ids[0], True)]


async def test_marks_that_expire_or_are_undone_are_reported(any_db: Database) -> None:
    library, reader, [a, b, c, d] = await _shelf(any_db)
    alice = reader.user.id
    label = await make_label(any_db, alice, "stone")
    await apply_marks(any_db, alice, [a], EntryMarks(later=library.now + HOUR), library.now)
    await apply_marks(any_db, alice, [b], EntryMarks(starred=True), library.now)
    marks = EntryMarks(starred=True, add_labels=(label.id,))
    done = await apply_marks_with_undo(any_db, alice, [b, c], marks, library.now)
    until = library.now + 5 * HOUR
    await apply_marks(any_db, alice, [d], EntryMarks(later=until), library.now)
    longer = await apply_marks_with_undo(any_db, alice, [d], EntryMarks(later=until + HOUR), library.now)
    await reader.ask()

    await expire_read_later(any_db, library.now)
    await undo_mark_all_read(any_db, alice, done.undo, library.now)
    await undo_mark_all_read(any_db, alice, longer.undo, library.now)
    found = await reader.ask()

    assert {item.id: (item.later, item.starred, len(item.labels)) for item in found.items} == {
        a: (False, False, 0),
        b: (False, True, 0),
        c: (False, False, 0),
        d: (True, False, 0),
    }
    assert next(item.later_until for item in found.items if item.id == d) == to_iso(until)
    assert not found.unread_changed


@pytest.mark.parametrize("up_to", [None, 0, 2], ids=["all", "few", "most"])
async def test_after_mark_all_read_and_after_its_undo_the_program_reads_the_unread_ids(
    any_db: Database, up_to: int | None
) -> None:
    library, reader, ids = await _shelf(any_db)
    alice = reader.user.id

    async def unread() -> list[int]:
        found = await entry_ids(any_db, alice, EntryView.UNREAD, ALL_ENTRIES, 0, 100, library.now)
        return found.ids

    chosen = MarkAllRead() if up_to is None else MarkAllRead(up_to=ids[up_to])
    done = await mark_all_read(any_db, alice, chosen, library.now)
    after = await reader.ask()
    left = await unread()
    quiet = await reader.ask()
    await undo_mark_all_read(any_db, alice, done.undo, library.now)
    undone = await reader.ask()

    assert (after.unread_changed, quiet.unread_changed, undone.unread_changed) == (True, False, True)
    assert left == ([] if up_to is None else ids[up_to + 1 :])
    assert await unread() == ids
    assert after.items == undone.items == []


async def test_a_program_that_was_away_for_long_reads_the_unread_ids(db: Database) -> None:
    library, reader, _ = await _shelf(db)
    library.now += 2 * DAY

    assert (await reader.ask()).unread_changed
    assert not (await reader.ask()).unread_changed


async def test_what_is_purged_or_unsubscribed_from_is_gone(any_db: Database) -> None:
    library, reader, [a, b, c, d] = await _shelf(any_db)
    alice, charlie = reader.user, await library.person("charlie")
    other = await library.feed("other")
    subscribed, others = await library.subscribe(alice, other), await library.feed("others")
    await library.subscribe(charlie, others)
    [kept, unstarred] = await library.arrive(other, "kept", "unstarred")
    [foreign] = await library.arrive(others, "foreign")
    await apply_marks(any_db, alice.id, [b, kept, unstarred], EntryMarks(starred=True), library.now)
    before = await reader.ask()

    await any_db.batch([Step(entries.update().where(entries.c.id.in_([a, b, foreign])).values(in_feed=0))])
    library.now += 10 * DAY
    await drop_expired_entries(any_db, DAY, library.now)
    await any_db.batch(steps_to_drop_subscription(alice.id, subscribed))
    await apply_marks(any_db, alice.id, [unstarred], EntryMarks(starred=False), library.now)
    after = await reader.ask()

    assert (before.gone, len(before.subscription_ids)) == ([], 2)
    assert after.gone == sorted([a, unstarred])
    assert after.subscription_ids == [id for id in before.subscription_ids if id != subscribed]
    everything = await entry_ids(any_db, alice.id, EntryView.ALL, ALL_ENTRIES, 0, 100, library.now)
    assert everything.ids == sorted([b, c, d, kept])


async def test_changes_come_page_by_page(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    library, reader, ids = await _shelf(db, "abcdefg")
    # The first statement of a page has its size; a smaller page needs a smaller one.
    monkeypatch.setattr("feedmill.library.entries.changed_entries.MOST_CHANGED", 3)
    monkeypatch.setattr(changed_marks, "CHANGED", changed_marks.CHANGED.limit(4))
    await apply_marks(db, reader.user.id, ids, EntryMarks(starred=True), library.now)

    pages = [await reader.ask() for _ in range(3)]

    assert [len(page.items) for page in pages] == [3, 3, 1]
    assert [page.more for page in pages] == [True, True, False]
    assert sorted(item.id for page in pages for item in page.items) == ids


async def test_a_change_is_not_lost_if_it_is_committed_after_the_program_asked(db: Database) -> None:
    library, reader, ids = await _shelf(db)
    began = library.now + HOUR - timedelta(minutes=2)

    first = await reader.ask()
    await apply_marks(db, reader.user.id, ids[:1], EntryMarks(starred=True), began)

    assert first.items == []
    assert [item.id for item in (await reader.ask()).items] == ids[:1]


async def test_ids_of_views_are_limited_to_a_scope_and_paged(any_db: Database) -> None:
    library, reader, ids = await _shelf(any_db)
    alice, now = reader.user, library.now
    other = await library.feed("other")
    subscription = await library.subscribe(alice, other)
    [e] = await library.arrive(other, "e")
    label = await make_label(any_db, alice.id, "stone")
    await apply_marks(any_db, alice.id, [ids[0], e], EntryMarks(read=True, later=True), now)
    await apply_marks(any_db, alice.id, [ids[1], e], EntryMarks(starred=True, add_labels=(label.id,)), now)

    async def listed(view: EntryView, scope: EntryScope = ALL_ENTRIES, after: int = 0, most: int = 100) -> list[int]:
        return (await entry_ids(any_db, alice.id, view, scope, after, most, now)).ids

    assert await listed(EntryView.UNREAD) == ids[1:]
    assert await listed(EntryView.UNREAD, EntryScope((subscription,))) == []
    assert await listed(EntryView.STARRED) == [ids[1], e]
    assert await listed(EntryView.STARRED, EntryScope((subscription,))) == [e]
    assert await listed(EntryView.LATER) == [ids[0], e]
    assert await listed(EntryView.HISTORY) == [ids[0], e]
    assert await listed(EntryView.ALL) == [*ids, e]
    assert await listed(EntryView.ALL, EntryScope(None, label.id)) == [ids[1], e]
    assert await listed(EntryView.UNREAD, EntryScope(None, label.id)) == [ids[1]]
    assert await listed(EntryView.ALL, after=ids[0], most=2) == ids[1:3]
    page = await entry_ids(any_db, alice.id, EntryView.ALL, ALL_ENTRIES, 0, 4, now)
    assert (page.ids, page.next_id) == (ids, ids[-1])
