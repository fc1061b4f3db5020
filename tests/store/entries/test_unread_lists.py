"""What is unread, and its counts, on each of the four databases."""

from sqlalchemy import func, select

from feedmill.model.user import User
from feedmill.store.database import Database, Step
from feedmill.store.entries.unread_lists import steps_to_drop_subscription, steps_to_fill_unread
from feedmill.store.schema import states, subscriptions, unread
from tests.library.small_library import Shelf


async def test_who_subscribes_finds_the_newest_entries_unread(any_db: Database) -> None:
    shelf = Shelf(any_db)
    alice, feed = await shelf.person(), await shelf.feed()
    await shelf.arrive(feed, *"abcde")
    await shelf.subscribe(alice, feed)

    await any_db.batch(steps_to_fill_unread(alice.id, feed, newest=3))
    again = await any_db.batch(steps_to_fill_unread(alice.id, feed, newest=3))

    assert len(again) == 3
    assert await shelf.unread_of(alice) == (3, 3)


async def test_who_subscribes_again_finds_what_was_read_still_read(db: Database) -> None:
    shelf = Shelf(db)
    alice, feed = await shelf.person(), await shelf.feed()
    [first, _] = await shelf.arrive(feed, "read", "unread")
    await db.batch([Step(states.insert().values(user_id=alice.id, entry_id=first, read_at="2026-01-01"))])
    await shelf.subscribe(alice, feed)

    await db.batch(steps_to_fill_unread(alice.id, feed))

    assert await shelf.unread_of(alice) == (1, 1)


async def test_a_dropped_subscription_leaves_nothing_unread_and_others_theirs(any_db: Database) -> None:
    shelf = Shelf(any_db)
    alice, bob, feed = await shelf.person("alice"), await shelf.person("bob"), await shelf.feed()
    hers, _ = await shelf.subscribe(alice, feed), await shelf.subscribe(bob, feed)
    await shelf.arrive(feed, "a", "b")

    await any_db.batch(steps_to_drop_subscription(alice.id, hers))

    assert await shelf.unread_of(alice) == (0, 0)
    assert await shelf.unread_of(bob) == (2, 2)
    [left] = await any_db.query(select(func.count().label("n")).select_from(unread))
    assert left["n"] == 2


async def test_nobody_drops_the_subscription_of_another(db: Database) -> None:
    shelf = Shelf(db)
    alice, charlie, feed = await shelf.person("alice"), await shelf.person("charlie"), await shelf.feed()
    hers = await shelf.subscribe(alice, feed)
    await shelf.arrive(feed, "a")

    await db.batch(steps_to_drop_subscription(charlie.id, hers))

    assert await shelf.unread_of(alice) == (1, 1)
    assert await _subscriptions(db, alice) == [hers]


async def _subscriptions(db: Database, user: User) -> list[int]:
    rows = await db.query(select(subscriptions.c.id).where(subscriptions.c.user_id == user.id))
    return [row["id"] for row in rows]
