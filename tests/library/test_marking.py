"""What readers do with entries, and that the counts say the truth whatever happens."""

import asyncio
from collections.abc import Sequence

import pytest
from sqlalchemy import select

from feedmill.errors import BadInput, NotFound
from feedmill.library.marking import LATER_FOR, mark, mark_one, take_back
from feedmill.library.reading import Wanted, list_entries
from feedmill.model.account import User
from feedmill.model.reading import Marks, Scope, Sweep, View
from feedmill.model.times import to_text
from feedmill.settings import Settings
from feedmill.store.database import Database, Step
from feedmill.store.labels import add_label
from feedmill.store.schema import feeds, image_tasks, states, unread, unread_lists, users
from feedmill.store.states import expire_later
from feedmill.store.sweeps import sweep
from feedmill.store.undo import KEPT_FOR, UNDO_FOR, empty_retired_lists
from feedmill.store.unread import steps_to_drop_subscription
from tests.library.shelf import DAY, HOUR, NOW, Shelf


async def test_reading_and_unreading_change_the_count_by_what_they_change(any_db: Database) -> None:
    shelf = Shelf(any_db)
    alice, ids = await _shelf_of_alice(shelf, "abcd")

    for marks, expected in (
        (Marks(read=True), 1), (Marks(read=True), 1), (Marks(read=False), 4), (Marks(read=False), 4),
    ):  # fmt: skip
        await mark(any_db, alice.id, ids[:3], marks, NOW)
        assert await shelf.unread_of(alice) == (expected, expected)


async def test_many_feeds_are_marked_at_once_and_counted_apart(any_db: Database) -> None:
    shelf = Shelf(any_db)
    alice, bob = await shelf.person("alice"), await shelf.person("bob")
    ids = []
    for name in ("one", "two", "three"):
        feed = await shelf.feed(name)
        await shelf.subscribe(alice, feed), await shelf.subscribe(bob, feed)
        ids += await shelf.arrive(feed, f"{name} a", f"{name} b")

    await mark(any_db, alice.id, [ids[0], ids[1], ids[2]], Marks(read=True), NOW)

    assert await shelf.unread_of(alice) == (3, 3)
    assert await shelf.unread_of(bob) == (6, 6)


async def test_stars_and_later_hold_until_they_are_taken_back(any_db: Database) -> None:
    shelf = Shelf(any_db)
    alice, [entry] = await _shelf_of_alice(shelf, "a")

    await mark(any_db, alice.id, [entry], Marks(starred=True, later=True), NOW)
    await mark(any_db, alice.id, [entry], Marks(starred=True, later=NOW + DAY), NOW + HOUR)
    [state] = await any_db.query(select(states))
    await mark(any_db, alice.id, [entry], Marks(starred=False, later=False), NOW)
    [after] = await any_db.query(select(states))

    assert state["starred_at"] == state["later_at"] == "2026-02-18T08:30:00.000Z"
    assert state["later_until"] == "2026-02-19T08:30:00.000Z"
    assert (after["starred_at"], after["later_at"], after["later_until"]) == (None, None, None)
    assert await shelf.unread_of(alice) == (1, 1)


async def test_later_is_for_thirty_days_unless_said(db: Database) -> None:
    shelf = Shelf(db)
    alice, ids = await _shelf_of_alice(shelf, "ab")
    await mark(db, alice.id, ids[:1], Marks(later=True), NOW)
    await mark(db, alice.id, ids[1:], Marks(later=NOW + 60 * DAY), NOW)

    assert await expire_later(db, NOW + LATER_FOR - HOUR) == 0
    assert await expire_later(db, NOW + LATER_FOR) == 1

    left = (await list_entries(db, alice.id, Wanted(View.LATER), NOW)).items
    assert [item.id for item in left] == ids[1:]


async def test_later_is_for_as_long_as_the_operator_says(db: Database) -> None:
    shelf = Shelf(db)
    alice, ids = await _shelf_of_alice(shelf, "a")
    settings = Settings(later_days=2)

    await mark_one(db, alice.id, ids[0], Marks(later=True), NOW, settings.later_for)

    [state] = await db.query(select(states.c.later_until))
    assert state["later_until"] == to_text(NOW + 2 * DAY)


async def test_later_can_not_end_before_it_begins(db: Database) -> None:
    shelf = Shelf(db)
    alice, ids = await _shelf_of_alice(shelf, "a")

    with pytest.raises(BadInput):
        await mark(db, alice.id, ids, Marks(later=NOW), NOW)


async def test_labels_are_put_on_and_taken_off(any_db: Database) -> None:
    shelf = Shelf(any_db)
    alice, [a, b] = await _shelf_of_alice(shelf, "ab")
    red, blue = [(await add_label(any_db, alice.id, name))["id"] for name in ("red", "blue")]

    await mark(any_db, alice.id, [a, b], Marks(add_labels=(red, blue)), NOW)
    await mark(any_db, alice.id, [a], Marks(add_labels=(red,), remove_labels=(blue,)), NOW)

    items = (await list_entries(any_db, alice.id, Wanted(View.ALL), NOW)).items
    assert {item.title: [label.name for label in item.labels] for item in items} == {"a": ["red"], "b": ["blue", "red"]}


async def test_the_label_of_another_is_not_there(db: Database) -> None:
    shelf = Shelf(db)
    alice, ids = await _shelf_of_alice(shelf, "a")
    charlie = await shelf.person("charlie")
    theirs = (await add_label(db, charlie.id, "red"))["id"]

    with pytest.raises(NotFound):
        await mark(db, alice.id, ids, Marks(add_labels=(theirs,)), NOW)


async def test_nobody_marks_what_they_may_not_see(db: Database) -> None:
    shelf = Shelf(db)
    alice, ids = await _shelf_of_alice(shelf, "ab")
    charlie = await shelf.person("charlie")

    done = await mark(db, charlie.id, [*ids, 10**9], Marks(read=True, starred=True), NOW)

    assert (done.ids, done.missing) == ([], [*ids, 10**9])
    assert await db.query(select(states)) == []
    assert await shelf.unread_of(alice) == (2, 2)
    with pytest.raises(NotFound):
        await mark_one(db, charlie.id, ids[0], Marks(starred=True), NOW)


async def test_what_is_not_subscribed_to_any_more_can_not_become_unread(db: Database) -> None:
    shelf = Shelf(db)
    alice, feed = await shelf.person(), await shelf.feed()
    hers = await shelf.subscribe(alice, feed)
    ids = await shelf.arrive(feed, "a")
    await mark(db, alice.id, ids, Marks(read=True, starred=True), NOW)
    await db.batch(steps_to_drop_subscription(alice.id, hers))

    done = await mark(db, alice.id, ids, Marks(read=False), NOW)

    assert done.ids == ids
    assert await shelf.unread_of(alice) == (0, 0)


async def test_a_star_has_the_images_archived_where_the_feed_wants_that(db: Database) -> None:
    shelf = Shelf(db)
    alice, feed = await shelf.person(), await shelf.feed()
    await shelf.subscribe(alice, feed)
    await db.batch([Step(feeds.update().values(archive_policy="starred"))])
    starred, _ = await shelf.arrive(feed, "a", "b", content_html='<img src="https://example.org/a.png">')

    await mark(db, alice.id, [starred], Marks(starred=True), NOW)

    assert [row["entry_id"] for row in await db.query(select(image_tasks))] == [starred]


# --- all at once -------------------------------------------------------------------------------------------


async def test_marking_all_read_touches_no_row_and_no_other_reader(any_db: Database) -> None:
    shelf = Shelf(any_db)
    alice, bob, feed = await shelf.person("alice"), await shelf.person("bob"), await shelf.feed()
    await shelf.subscribe(alice, feed), await shelf.subscribe(bob, feed)
    await shelf.arrive(feed, *"abc")

    swept = await sweep(any_db, alice.id, Sweep(), NOW)
    await shelf.arrive(feed, "d")

    assert swept.marked == 3
    assert await shelf.unread_of(alice) == (1, 1)
    assert await shelf.unread_of(bob) == (4, 4)
    assert len(await any_db.query(select(unread))) == 8


@pytest.mark.parametrize("old", [1, 5])
async def test_marking_what_is_old_leaves_what_is_new_and_can_be_undone(any_db: Database, old: int) -> None:
    """With few old ones they are set apart; with many the new ones move."""
    shelf = Shelf(any_db)
    alice, feed = await shelf.person(), await shelf.feed()
    await shelf.subscribe(alice, feed)
    await shelf.arrive(feed, *(f"old {number}" for number in range(old)), at=NOW - 8 * DAY)
    await shelf.arrive(feed, "new 1", "new 2", at=NOW - DAY)

    swept = await sweep(any_db, alice.id, Sweep(before=NOW - 7 * DAY), NOW)
    await shelf.arrive(feed, "newer")

    assert swept.marked == old
    assert sorted(await _unread(any_db, alice)) == ["new 1", "new 2", "newer"]
    assert await shelf.unread_of(alice) == (3, 3)
    await take_back(any_db, alice.id, swept.undo, NOW)
    assert await shelf.unread_of(alice) == (old + 3, old + 3)


async def test_what_arrives_while_somebody_looks_is_not_marked_with_the_rest(db: Database) -> None:
    shelf = Shelf(db)
    alice, feed = await shelf.person(), await shelf.feed()
    await shelf.subscribe(alice, feed)
    await shelf.arrive(feed, "seen")
    looked = await list_entries(db, alice.id, Wanted(), NOW)
    # Dated before everything else: only its id says that it came later.
    await shelf.arrive(feed, "unseen", at=NOW - 100 * DAY)

    await sweep(db, alice.id, Sweep(up_to=looked.as_of), NOW)

    assert await _unread(db, alice) == ["unseen"]


@pytest.mark.parametrize("scope", ["subscription", "folder", "label", "several"])
async def test_a_scope_is_marked_and_nothing_else(db: Database, scope: str) -> None:
    shelf = Shelf(db)
    alice = await shelf.person()
    feeds = [await shelf.feed(name) for name in ("one", "two", "three")]
    one, two, _ = [await shelf.subscribe(alice, feed) for feed in feeds]
    [[a], _, _] = [await shelf.arrive(feed, title) for feed, title in zip(feeds, "abc", strict=True)]
    label = (await add_label(db, alice.id, "red"))["id"]
    await mark(db, alice.id, [a], Marks(add_labels=(label,)), NOW)
    scopes = {
        "subscription": Scope((one,)), "folder": Scope((one, two)), "label": Scope(label_id=label),
        "several": Scope((one, two), label),
    }  # fmt: skip

    swept = await sweep(db, alice.id, Sweep(scopes[scope]), NOW)

    left = ["c"] if scope == "folder" else ["c", "b"]
    assert (await _unread(db, alice), swept.marked) == (left, 3 - len(left))
    await take_back(db, alice.id, swept.undo, NOW)
    assert await shelf.unread_of(alice) == (3, 3)


async def test_undo_brings_back_what_was_marked_but_not_what_was_read_since(any_db: Database) -> None:
    shelf = Shelf(any_db)
    alice, ids = await _shelf_of_alice(shelf, "abc")
    swept = await sweep(any_db, alice.id, Sweep(), NOW)
    await mark(any_db, alice.id, ids[:1], Marks(read=True), NOW + HOUR)
    await mark(any_db, alice.id, ids[1:2], Marks(read=False), NOW + HOUR)

    await take_back(any_db, alice.id, swept.undo, NOW + HOUR)

    assert await _unread(any_db, alice) == ["c", "b"]
    assert await shelf.unread_of(alice) == (2, 2)


async def test_an_undo_works_once_for_its_owner_and_for_a_day(db: Database) -> None:
    shelf = Shelf(db)
    alice, _ = await _shelf_of_alice(shelf, "ab")
    charlie = await shelf.person("charlie")
    swept = await sweep(db, alice.id, Sweep(), NOW)

    for user, token, now in (
        (charlie, swept.undo, NOW), (alice, "0" * 32, NOW), (alice, swept.undo, NOW + UNDO_FOR + HOUR),
    ):  # fmt: skip
        with pytest.raises(NotFound):
            await take_back(db, user.id, token, now)
    await take_back(db, alice.id, swept.undo, NOW + UNDO_FOR)

    assert await shelf.unread_of(alice) == (2, 2)
    with pytest.raises(NotFound):
        await take_back(db, alice.id, swept.undo, NOW)


async def test_two_markings_are_undone_in_any_order(db: Database) -> None:
    shelf = Shelf(db)
    alice, feed = await shelf.person(), await shelf.feed()
    await shelf.subscribe(alice, feed)
    await shelf.arrive(feed, *"abc")
    first = await sweep(db, alice.id, Sweep(), NOW)
    await shelf.arrive(feed, "d")
    second = await sweep(db, alice.id, Sweep(), NOW)

    await take_back(db, alice.id, first.undo, NOW)
    assert await shelf.unread_of(alice) == (3, 3)
    await take_back(db, alice.id, second.undo, NOW)
    assert await shelf.unread_of(alice) == (4, 4)


async def test_old_lists_are_emptied_and_the_one_in_use_stays(any_db: Database) -> None:
    shelf = Shelf(any_db)
    alice, feed = await shelf.person(), await shelf.feed()
    await shelf.subscribe(alice, feed)
    await shelf.arrive(feed, *"abcdefg")
    await sweep(any_db, alice.id, Sweep(), NOW)
    await shelf.arrive(feed, "new")

    assert await empty_retired_lists(any_db, NOW + KEPT_FOR) == 0
    assert await empty_retired_lists(any_db, NOW + KEPT_FOR + HOUR, lot=3) == 1

    assert await shelf.unread_of(alice) == (1, 1)
    assert len(await any_db.query(select(unread))) == 1
    assert len(await any_db.query(select(unread_lists))) == 1


async def test_what_somebody_left_unread_goes_after_them(any_db: Database) -> None:
    shelf = Shelf(any_db)
    alice, bob, feed = await shelf.person("alice"), await shelf.person("bob"), await shelf.feed()
    await shelf.subscribe(alice, feed), await shelf.subscribe(bob, feed)
    await shelf.arrive(feed, *"abc")

    await any_db.batch([Step(users.delete().where(users.c.id == alice.id))])
    emptied = await empty_retired_lists(any_db, NOW)

    assert emptied == 1
    assert len(await any_db.query(select(unread))) == 3
    assert await shelf.unread_of(bob) == (3, 3)


async def test_a_list_that_was_had_back_is_not_emptied(db: Database) -> None:
    shelf = Shelf(db)
    alice, _ = await _shelf_of_alice(shelf, "abc")
    swept = await sweep(db, alice.id, Sweep(), NOW)
    await take_back(db, alice.id, swept.undo, NOW)

    await empty_retired_lists(db, NOW + KEPT_FOR + HOUR)

    assert await shelf.unread_of(alice) == (3, 3)


# --- at once -----------------------------------------------------------------------------------------------


async def test_the_count_is_right_when_two_mark_the_same_at_once(any_db: Database) -> None:
    shelf = Shelf(any_db)
    alice, ids = await _shelf_of_alice(shelf, "abcdef")

    for read in (True, False, True):
        await asyncio.gather(
            *(mark(any_db, alice.id, ids[start : start + 4], Marks(read=read), NOW) for start in (0, 1, 2, 0))
        )
        expected = 0 if read else 6
        assert await shelf.unread_of(alice) == (expected, expected)


async def test_the_count_is_right_whatever_happens_at_once(db: Database) -> None:
    shelf = Shelf(db)
    alice, feed = await shelf.person(), await shelf.feed()
    await shelf.subscribe(alice, feed)
    ids = await shelf.arrive(feed, *"abcdef")

    for number in range(15):
        swept = await sweep(db, alice.id, Sweep(before=NOW - 29 * DAY), NOW)
        await asyncio.gather(
            shelf.arrive(feed, f"more {number}"),
            sweep(db, alice.id, Sweep(), NOW),
            mark(db, alice.id, ids, Marks(read=number % 2 == 0), NOW),
            take_back(db, alice.id, swept.undo, NOW),
            sweep(db, alice.id, Sweep(up_to=ids[number % 6]), NOW),
        )
        listed, counted = await shelf.unread_of(alice)
        assert listed == counted


async def test_what_arrives_while_others_are_marked_or_brought_back_is_unread(db: Database) -> None:
    shelf = Shelf(db)
    alice, feed = await shelf.person(), await shelf.feed()
    await shelf.subscribe(alice, feed)
    old = await shelf.arrive(feed, *(f"old {number}" for number in range(40)))

    for number in range(10):
        await mark(db, alice.id, old, Marks(read=False), NOW)
        during = (sweep(db, alice.id, Sweep(up_to=old[-1]), NOW), shelf.arrive(feed, f"during {number}"))
        swept, _ = await asyncio.gather(*during)
        assert f"during {number}" in await _unread(db, alice)

        await asyncio.gather(take_back(db, alice.id, swept.undo, NOW), shelf.arrive(feed, f"after {number}"))
        assert f"after {number}" in await _unread(db, alice)


async def _shelf_of_alice(shelf: Shelf, titles: Sequence[str]) -> tuple[User, list[int]]:
    alice, feed = await shelf.person(), await shelf.feed()
    await shelf.subscribe(alice, feed)
    return alice, await shelf.arrive(feed, *titles)


async def _unread(db: Database, user: User) -> list[str]:
    return [item.title for item in (await list_entries(db, user.id, Wanted(), NOW)).items]
