"""Unread entries and their counts, on each of the four databases."""

from sqlalchemy import func, select

from feedmill.model.user import User
from feedmill.store.database import Database, Step
from feedmill.store.schema import states, subscriptions, unread
from feedmill.store.subscriptions.unread_entries import steps_to_drop_subscription, steps_to_fill_unread
from tests.library.small_library import SmallLibrary


async def test_a_new_subscriber_has_the_newest_entries_unread(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, feed = await library.person(), await library.feed()
    await library.arrive(feed, *"abcde")
    await library.subscribe(alice, feed)

    await any_db.batch(steps_to_fill_unread(alice.id, feed, newest=3))
    again = await any_db.batch(steps_to_fill_unread(alice.id, feed, newest=3))

    assert len(again) == 3
    assert await library.unread_of(alice) == (3, 3)


async def test_subscribing_again_keeps_what_was_read(db: Database) -> None:
    library = SmallLibrary(db)
    alice, feed = await library.person(), await library.feed()
    [first, _] = await library.arrive(feed, "read", "unread")
    await db.batch([Step(states.insert().values(user_id=alice.id, entry_id=first, read_at="2026-01-01"))])
    await library.subscribe(alice, feed)

    await db.batch(steps_to_fill_unread(alice.id, feed))

    assert await library.unread_of(alice) == (1, 1)


async def test_unsubscribing_removes_the_unread_list_of_that_user_only(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, bob, feed = await library.person("alice"), await library.person("bob"), await library.feed()
    hers, _ = await library.subscribe(alice, feed), await library.subscribe(bob, feed)
    await library.arrive(feed, "a", "b")

    await any_db.batch(steps_to_drop_subscription(alice.id, hers))

    assert await library.unread_of(alice) == (0, 0)
    assert await library.unread_of(bob) == (2, 2)
    [left] = await any_db.query(select(func.count().label("n")).select_from(unread))
    assert left["n"] == 2


async def test_a_user_cannot_end_the_subscription_of_another(db: Database) -> None:
    library = SmallLibrary(db)
    alice, charlie, feed = await library.person("alice"), await library.person("charlie"), await library.feed()
    hers = await library.subscribe(alice, feed)
    await library.arrive(feed, "a")

    await db.batch(steps_to_drop_subscription(charlie.id, hers))

    assert await library.unread_of(alice) == (1, 1)
    assert await _subscriptions(db, alice) == [hers]


async def _subscriptions(db: Database, user: User) -> list[int]:
    rows = await db.query(select(subscriptions.c.id).where(subscriptions.c.user_id == user.id))
    return [row["id"] for row in rows]
