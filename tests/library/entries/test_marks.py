"""Marks on entries, and unread counts that stay correct."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

import pytest
from sqlalchemy import select

from feedmill.errors import BadInput, NotFound
from feedmill.library.entries.list_entries import EntryListQuery, list_entries
from feedmill.library.entries.marks import LATER_FOR, apply_marks, apply_marks_to_entry, undo_mark_all_read
from feedmill.model.entry_lists import EntryScope, EntryView
from feedmill.model.entry_marks import EntryMarks, MarkAllRead
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.settings import Settings
from feedmill.store.database import Database, Step
from feedmill.store.entries import drop_unused_unread_lists
from feedmill.store.entries.drop_unused_unread_lists import drop_retired_lists
from feedmill.store.entries.labels import add_label
from feedmill.store.entries.mark_all_read import mark_unread_as_read
from feedmill.store.entries.marks import expire_read_later
from feedmill.store.entries.undo_mark_all_read import UNDO_FOR
from feedmill.store.schema import feeds, image_tasks, states, unread, unread_lists, users
from feedmill.store.subscriptions.unread_entries import steps_to_drop_subscription
from tests.library.small_library import DAY, HOUR, NOW, SmallLibrary


async def test_marking_read_and_unread_changes_the_count_by_what_changed(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, ids = await _shelf_of_alice(library, "abcd")

    for marks, expected in (
        (EntryMarks(read=True), 1),
        (EntryMarks(read=True), 1),
        (EntryMarks(read=False), 4),
        (EntryMarks(read=False), 4),
    ):
        await apply_marks(any_db, alice.id, ids[:3], marks, NOW)
        assert await library.unread_of(alice) == (expected, expected)


async def test_the_history_has_the_order_of_reading(any_db: Database) -> None:
    alice, ids = await _shelf_of_alice(SmallLibrary(any_db), "abcd")
    order = [ids[place] for place in (2, 0, 3, 1)]

    await apply_marks(any_db, alice.id, order, EntryMarks(read=True), NOW)

    page = await list_entries(any_db, alice.id, EntryListQuery(EntryView.HISTORY), NOW)
    assert [entry.id for entry in page.items] == order[::-1]


async def test_entries_of_many_feeds_are_marked_at_once_and_counted_per_feed(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, bob = await library.person("alice"), await library.person("bob")
    ids = []
    for name in ("one", "two", "three"):
        feed = await library.feed(name)
        await library.subscribe(alice, feed), await library.subscribe(bob, feed)
        ids += await library.arrive(feed, f"{name} a", f"{name} b")

    await apply_marks(any_db, alice.id, [ids[0], ids[1], ids[2]], EntryMarks(read=True), NOW)

    assert await library.unread_of(alice) == (3, 3)
    assert await library.unread_of(bob) == (6, 6)


async def test_stars_and_read_later_last_until_they_are_removed(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, [entry] = await _shelf_of_alice(library, "a")

    await apply_marks(any_db, alice.id, [entry], EntryMarks(starred=True, later=True), NOW)
    await apply_marks(any_db, alice.id, [entry], EntryMarks(starred=True, later=NOW + DAY), NOW + HOUR)
    [state] = await any_db.query(select(states))
    await apply_marks(any_db, alice.id, [entry], EntryMarks(starred=False, later=False), NOW)
    [after] = await any_db.query(select(states))

    assert state["starred_at"] == state["later_at"] == "2026-02-18T08:30:00.000Z"
    assert state["later_until"] == "2026-02-19T08:30:00.000Z"
    assert (after["starred_at"], after["later_at"], after["later_until"]) == (None, None, None)
    assert await library.unread_of(alice) == (1, 1)


async def test_read_later_lasts_thirty_days_by_default(db: Database) -> None:
    library = SmallLibrary(db)
    alice, ids = await _shelf_of_alice(library, "ab")
    await apply_marks(db, alice.id, ids[:1], EntryMarks(later=True), NOW)
    await apply_marks(db, alice.id, ids[1:], EntryMarks(later=NOW + 60 * DAY), NOW)

    assert await expire_read_later(db, NOW + LATER_FOR - HOUR) == 0
    assert await expire_read_later(db, NOW + LATER_FOR) == 1

    left = (await list_entries(db, alice.id, EntryListQuery(EntryView.LATER), NOW)).items
    assert [item.id for item in left] == ids[1:]


async def test_read_later_lasts_as_long_as_the_setting_says(db: Database) -> None:
    library = SmallLibrary(db)
    alice, ids = await _shelf_of_alice(library, "a")
    settings = Settings(later_days=2)

    await apply_marks_to_entry(db, alice.id, ids[0], EntryMarks(later=True), NOW, settings.later_for)

    [state] = await db.query(select(states.c.later_until))
    assert state["later_until"] == to_iso(NOW + 2 * DAY)


async def test_read_later_cannot_end_in_the_past(db: Database) -> None:
    library = SmallLibrary(db)
    alice, ids = await _shelf_of_alice(library, "a")

    with pytest.raises(BadInput):
        await apply_marks(db, alice.id, ids, EntryMarks(later=NOW), NOW)


async def test_labels_are_added_and_removed(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, [a, b] = await _shelf_of_alice(library, "ab")
    red, blue = [(await add_label(any_db, alice.id, name)).id for name in ("red", "blue")]

    await apply_marks(any_db, alice.id, [a, b], EntryMarks(add_labels=(red, blue)), NOW)
    await apply_marks(any_db, alice.id, [a], EntryMarks(add_labels=(red,), remove_labels=(blue,)), NOW)

    items = (await list_entries(any_db, alice.id, EntryListQuery(EntryView.ALL), NOW)).items
    assert {item.title: [label.name for label in item.labels] for item in items} == {"a": ["red"], "b": ["blue", "red"]}


async def test_another_users_label_is_not_found(db: Database) -> None:
    library = SmallLibrary(db)
    alice, ids = await _shelf_of_alice(library, "a")
    charlie = await library.person("charlie")
    theirs = (await add_label(db, charlie.id, "red")).id

    with pytest.raises(NotFound):
        await apply_marks(db, alice.id, ids, EntryMarks(add_labels=(theirs,)), NOW)


async def test_a_user_cannot_mark_entries_they_cannot_see(db: Database) -> None:
    library = SmallLibrary(db)
    alice, ids = await _shelf_of_alice(library, "ab")
    charlie = await library.person("charlie")

    done = await apply_marks(db, charlie.id, [*ids, 10**9], EntryMarks(read=True, starred=True), NOW)

    assert (done.ids, done.missing) == ([], [*ids, 10**9])
    assert await db.query(select(states)) == []
    assert await library.unread_of(alice) == (2, 2)
    with pytest.raises(NotFound):
        await apply_marks_to_entry(db, charlie.id, ids[0], EntryMarks(starred=True), NOW)


async def test_an_entry_without_a_subscription_cannot_become_unread(db: Database) -> None:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    hers = await library.subscribe(alice, feed)
    ids = await library.arrive(feed, "a")
    await apply_marks(db, alice.id, ids, EntryMarks(read=True, starred=True), NOW)
    await db.batch(steps_to_drop_subscription(alice.id, hers))

    done = await apply_marks(db, alice.id, ids, EntryMarks(read=False), NOW)

    assert done.ids == ids
    assert await library.unread_of(alice) == (0, 0)


async def test_a_star_archives_the_images_if_the_feed_archives_starred_ones(db: Database) -> None:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    await db.batch([Step(feeds.update().values(archive_policy="starred"))])
    starred, _ = await library.arrive(feed, "a", "b", content_html='<img src="https://example.org/a.png">')

    await apply_marks(db, alice.id, [starred], EntryMarks(starred=True), NOW)

    assert [row["entry_id"] for row in await db.query(select(image_tasks))] == [starred]


# --- mark all read -----------------------------------------------------------------------------------------


async def test_marking_all_read_touches_no_row_and_no_other_reader(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, bob, feed = await library.person("alice"), await library.person("bob"), await library.feed()
    await library.subscribe(alice, feed), await library.subscribe(bob, feed)
    await library.arrive(feed, *"abc")

    swept = await mark_unread_as_read(any_db, alice.id, MarkAllRead(), NOW)
    await library.arrive(feed, "d")

    assert swept.marked == 3
    assert await library.unread_of(alice) == (1, 1)
    assert await library.unread_of(bob) == (4, 4)
    assert len(await any_db.query(select(unread))) == 8


@pytest.mark.parametrize("old", [1, 5])
async def test_marking_old_entries_leaves_new_ones_and_can_be_undone(any_db: Database, old: int) -> None:
    """With few old entries these are moved; with many the new ones are."""
    library = SmallLibrary(any_db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    await library.arrive(feed, *(f"old {number}" for number in range(old)), at=NOW - 8 * DAY)
    await library.arrive(feed, "new 1", "new 2", at=NOW - DAY)

    swept = await mark_unread_as_read(any_db, alice.id, MarkAllRead(before=NOW - 7 * DAY), NOW)
    await library.arrive(feed, "newer")

    assert swept.marked == old
    assert sorted(await _unread(any_db, alice)) == ["new 1", "new 2", "newer"]
    assert await library.unread_of(alice) == (3, 3)
    await undo_mark_all_read(any_db, alice.id, swept.undo, NOW)
    assert await library.unread_of(alice) == (old + 3, old + 3)


async def test_entries_that_arrive_after_the_page_was_loaded_are_not_marked(db: Database) -> None:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    await library.arrive(feed, "seen")
    looked = await list_entries(db, alice.id, EntryListQuery(), NOW)
    # Dated before everything else: only its id shows that it arrived later.
    await library.arrive(feed, "unseen", at=NOW - 100 * DAY)

    await mark_unread_as_read(db, alice.id, MarkAllRead(up_to=looked.as_of), NOW)

    assert await _unread(db, alice) == ["unseen"]


@pytest.mark.parametrize("scope", ["subscription", "folder", "label", "several"])
async def test_only_the_given_scope_is_marked(db: Database, scope: str) -> None:
    library = SmallLibrary(db)
    alice = await library.person()
    feeds = [await library.feed(name) for name in ("one", "two", "three")]
    one, two, _ = [await library.subscribe(alice, feed) for feed in feeds]
    [[a], _, _] = [await library.arrive(feed, title) for feed, title in zip(feeds, "abc", strict=True)]
    label = (await add_label(db, alice.id, "red")).id
    await apply_marks(db, alice.id, [a], EntryMarks(add_labels=(label,)), NOW)
    scopes = {
        "subscription": EntryScope((one,)),
        "folder": EntryScope((one, two)),
        "label": EntryScope(label_id=label),
        "several": EntryScope((one, two), label),
    }

    swept = await mark_unread_as_read(db, alice.id, MarkAllRead(scopes[scope]), NOW)

    left = ["c"] if scope == "folder" else ["c", "b"]
    assert (await _unread(db, alice), swept.marked) == (left, 3 - len(left))
    await undo_mark_all_read(db, alice.id, swept.undo, NOW)
    assert await library.unread_of(alice) == (3, 3)


async def test_undo_restores_what_was_marked_but_not_what_was_read_since(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, ids = await _shelf_of_alice(library, "abc")
    swept = await mark_unread_as_read(any_db, alice.id, MarkAllRead(), NOW)
    await apply_marks(any_db, alice.id, ids[:1], EntryMarks(read=True), NOW + HOUR)
    await apply_marks(any_db, alice.id, ids[1:2], EntryMarks(read=False), NOW + HOUR)

    await undo_mark_all_read(any_db, alice.id, swept.undo, NOW + HOUR)

    assert await _unread(any_db, alice) == ["c", "b"]
    assert await library.unread_of(alice) == (2, 2)


async def test_an_undo_works_once_for_its_owner_and_for_a_day(db: Database) -> None:
    library = SmallLibrary(db)
    alice, _ = await _shelf_of_alice(library, "ab")
    charlie = await library.person("charlie")
    swept = await mark_unread_as_read(db, alice.id, MarkAllRead(), NOW)

    for user, token, now in (
        (charlie, swept.undo, NOW),
        (alice, "0" * 32, NOW),
        (alice, swept.undo, NOW + UNDO_FOR + HOUR),
    ):
        with pytest.raises(NotFound):
            await undo_mark_all_read(db, user.id, token, now)
    await undo_mark_all_read(db, alice.id, swept.undo, NOW + UNDO_FOR)

    assert await library.unread_of(alice) == (2, 2)
    with pytest.raises(NotFound):
        await undo_mark_all_read(db, alice.id, swept.undo, NOW)


async def test_two_mark_all_read_are_undone_in_any_order(db: Database) -> None:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    await library.arrive(feed, *"abc")
    first = await mark_unread_as_read(db, alice.id, MarkAllRead(), NOW)
    await library.arrive(feed, "d")
    second = await mark_unread_as_read(db, alice.id, MarkAllRead(), NOW)

    await undo_mark_all_read(db, alice.id, first.undo, NOW)
    assert await library.unread_of(alice) == (3, 3)
    await undo_mark_all_read(db, alice.id, second.undo, NOW)
    assert await library.unread_of(alice) == (4, 4)


async def test_old_lists_are_deleted_and_the_one_in_use_stays(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    await library.arrive(feed, *"abcdefg")
    await mark_unread_as_read(any_db, alice.id, MarkAllRead(), NOW)
    await library.arrive(feed, "new")

    assert await drop_retired_lists(any_db, NOW) == 0
    assert await drop_retired_lists(any_db, NOW + HOUR, chunk_size=3) == 1

    assert await library.unread_of(alice) == (1, 1)
    assert len(await any_db.query(select(unread))) == 1
    assert len(await any_db.query(select(unread_lists))) == 1


async def test_the_unread_list_of_a_deleted_user_is_deleted(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, bob, feed = await library.person("alice"), await library.person("bob"), await library.feed()
    await library.subscribe(alice, feed), await library.subscribe(bob, feed)
    await library.arrive(feed, *"abc")

    await any_db.batch([Step(users.delete().where(users.c.id == alice.id))])
    emptied = await drop_retired_lists(any_db, NOW - HOUR)

    assert emptied == 1
    assert len(await any_db.query(select(unread))) == 3
    assert await library.unread_of(bob) == (3, 3)


async def test_a_restored_list_is_not_deleted(db: Database) -> None:
    library = SmallLibrary(db)
    alice, _ = await _shelf_of_alice(library, "abc")
    swept = await mark_unread_as_read(db, alice.id, MarkAllRead(), NOW)
    await undo_mark_all_read(db, alice.id, swept.undo, NOW)

    await drop_retired_lists(db, NOW + HOUR)

    assert await library.unread_of(alice) == (3, 3)


async def test_a_list_that_is_restored_while_it_is_deleted_stays(
    any_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = SmallLibrary(any_db)
    alice, _ = await _shelf_of_alice(library, "abc")
    swept = await mark_unread_as_read(any_db, alice.id, MarkAllRead(), NOW)
    find_unused = drop_unused_unread_lists._unused_lists

    async def had_back_meanwhile(db: Database, before: datetime) -> list[int]:
        unused = await find_unused(db, before)
        await undo_mark_all_read(db, alice.id, swept.undo, NOW)
        return unused

    monkeypatch.setattr(drop_unused_unread_lists, "_unused_lists", had_back_meanwhile)
    assert await drop_retired_lists(any_db, NOW + HOUR, chunk_size=2) == 1

    assert await library.unread_of(alice) == (3, 3)


# --- concurrency -------------------------------------------------------------------------------------------


async def test_the_count_is_correct_when_two_requests_mark_the_same_at_once(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, ids = await _shelf_of_alice(library, "abcdef")

    for read in (True, False, True):
        await asyncio.gather(
            *(
                apply_marks(any_db, alice.id, ids[start : start + 4], EntryMarks(read=read), NOW)
                for start in (0, 1, 2, 0)
            )
        )
        expected = 0 if read else 6
        assert await library.unread_of(alice) == (expected, expected)


async def test_the_count_is_correct_after_any_concurrent_changes(db: Database) -> None:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    ids = await library.arrive(feed, *"abcdef")

    for number in range(15):
        swept = await mark_unread_as_read(db, alice.id, MarkAllRead(before=NOW - 29 * DAY), NOW)
        await asyncio.gather(
            library.arrive(feed, f"more {number}"),
            mark_unread_as_read(db, alice.id, MarkAllRead(), NOW),
            apply_marks(db, alice.id, ids, EntryMarks(read=number % 2 == 0), NOW),
            undo_mark_all_read(db, alice.id, swept.undo, NOW),
            mark_unread_as_read(db, alice.id, MarkAllRead(up_to=ids[number % 6]), NOW),
        )
        listed, counted = await library.unread_of(alice)
        assert listed == counted


async def test_entries_that_arrive_while_others_are_marked_or_restored_are_unread(db: Database) -> None:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    old = await library.arrive(feed, *(f"old {number}" for number in range(40)))

    for number in range(10):
        await apply_marks(db, alice.id, old, EntryMarks(read=False), NOW)
        during = (
            mark_unread_as_read(db, alice.id, MarkAllRead(up_to=old[-1]), NOW),
            library.arrive(feed, f"during {number}"),
        )
        swept, _ = await asyncio.gather(*during)
        assert f"during {number}" in await _unread(db, alice)

        await asyncio.gather(undo_mark_all_read(db, alice.id, swept.undo, NOW), library.arrive(feed, f"after {number}"))
        assert f"after {number}" in await _unread(db, alice)


async def _shelf_of_alice(library: SmallLibrary, titles: Sequence[str]) -> tuple[User, list[int]]:
    alice, feed = await library.person(), await library.feed()
    await library.subscribe(alice, feed)
    return alice, await library.arrive(feed, *titles)


async def _unread(db: Database, user: User) -> list[str]:
    return [item.title for item in (await list_entries(db, user.id, EntryListQuery(), NOW)).items]
