"""Locks in the database: held for a lease, by one owner."""

from datetime import UTC, datetime, timedelta

from feedmill.store.database import Database
from feedmill.store.locks import acquire, acquire_all, held_locks

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
LEASE, DAY = timedelta(seconds=20), timedelta(days=1)


async def test_a_lock_is_held_until_its_lease_ends(any_db: Database) -> None:
    assert await acquire(any_db, "migrate", "first", NOW, LEASE)

    during = await acquire(any_db, "migrate", "second", NOW + LEASE / 2, LEASE)
    held = await held_locks(any_db, ["migrate"], NOW + LEASE / 2, LEASE)

    assert (during, held) == (False, {"migrate"})
    assert await acquire(any_db, "migrate", "second", NOW + LEASE, LEASE)


async def test_a_lock_of_a_killed_process_whose_clock_was_ahead_is_free(any_db: Database) -> None:
    await acquire_all(any_db, ["migrate", "webhook"], "killed", NOW + 2_000 * DAY, LEASE)

    held = await held_locks(any_db, ["migrate", "webhook"], NOW, LEASE)

    assert held == set()
    assert await acquire(any_db, "migrate", "own", NOW, LEASE)
    assert await acquire_all(any_db, ["webhook"], "own", NOW, LEASE) == {"webhook"}


async def test_a_holder_whose_clock_is_minutes_ahead_keeps_its_lock(any_db: Database) -> None:
    await acquire(any_db, "migrate", "ahead", NOW + timedelta(minutes=5), LEASE)

    assert not await acquire(any_db, "migrate", "own", NOW, LEASE)
