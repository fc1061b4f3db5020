"""Locks in the database: a name, an owner's token and a lease that expires by itself."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from secrets import token_hex

from sqlalchemy import and_, bindparam, or_, select

from feedmill.errors import DatabaseError
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert_new, one_of
from feedmill.store.schema import locks

# A lease that ends so long after its length is from a clock that was wrong and has been set back since.
FAR = timedelta(hours=1)

_is_held = and_(locks.c.until > bindparam("now"), locks.c.until <= bindparam("far"))
_is_free = or_(locks.c.until <= bindparam("now"), locks.c.until > bindparam("far"))
INSERT = insert_new(locks, "name", "token", "until")
TAKE_OVER = (
    locks.update()
    .where(locks.c.name == bindparam("key"), _is_free)
    .values(token=bindparam("token"), until=bindparam("until"))
)
RENEW = (
    locks.update()
    .where(locks.c.name == bindparam("key"), locks.c.token == bindparam("own_token"))
    .values(until=bindparam("until"))
)
OWNER = select(locks.c.token).where(locks.c.name == bindparam("key"))
HELD = select(locks.c.name).where(one_of(locks.c.name, "names"), _is_held)
OWN = select(locks.c.name).where(one_of(locks.c.name, "names"), locks.c.token == bindparam("own_token"))
RELEASE = locks.delete().where(locks.c.name == bindparam("key"), locks.c.token == bindparam("own_token"))
DELETE_ALL = locks.delete()

LEASE = timedelta(seconds=20)


async def delete_all(db: Database) -> None:
    """Deletes all locks, in a copy that no process uses."""
    await db.batch([Step(DELETE_ALL)])


async def acquire(db: Database, name: str, token: str, now: datetime, lease: timedelta) -> bool:
    """Takes the lock if it is free; whether `token` owns it now. Taking it again does not renew it."""
    row = {"token": token, "until": to_iso(now + lease)}
    await db.batch(
        [
            Step(TAKE_OVER, {"key": name, **row, **_limits(now, lease)}),
            Step(INSERT, {"name": name, **row}),
        ]
    )
    owner = await db.query(OWNER, {"key": name})
    return bool(owner) and owner[0]["token"] == token


async def acquire_all(db: Database, names: Sequence[str], token: str, now: datetime, lease: timedelta) -> set[str]:
    """Takes those of these locks that are free; the names of those that `token` owns now."""
    row, limits = {"token": token, "until": to_iso(now + lease)}, _limits(now, lease)
    await db.batch(
        [
            Step(TAKE_OVER, [{"key": name, **row, **limits} for name in names]),
            Step(INSERT, [{"name": name, **row} for name in names]),
        ]
    )
    return {row["name"] for row in await db.query(OWN, {"names": as_list(list(names)), "own_token": token})}


async def held_locks(db: Database, names: Sequence[str], now: datetime, lease: timedelta) -> set[str]:
    """Those of these locks that are held now. `lease` is for how long they are taken."""
    return {row["name"] for row in await db.query(HELD, {"names": as_list(list(names)), **_limits(now, lease)})}


async def renew(db: Database, name: str, token: str, now: datetime, lease: timedelta) -> bool:
    """Renews the lease; whether `token` still owns the lock."""
    step = Step(RENEW, {"key": name, "own_token": token, "until": to_iso(now + lease)})
    return await db.batch([step]) == [1]


async def release(db: Database, name: str, token: str) -> None:
    """Releases the lock, if `token` still owns it."""
    await db.batch([Step(RELEASE, {"key": name, "own_token": token})])


async def release_all(db: Database, names: Sequence[str], token: str) -> None:
    """Releases those of these locks that `token` still owns."""
    await db.batch([Step(RELEASE, [{"key": name, "own_token": token} for name in names])])


@asynccontextmanager
async def hold_renewed_lock(
    db: Database, name: str, lease: timedelta = LEASE, poll: float = 0.2
) -> AsyncIterator[None]:
    """Waits for the lock and holds it for the block, renewing it meanwhile, however long a statement takes."""
    token = token_hex(16)
    # Polled, because its holder may be another process.
    while not await acquire(db, name, token, datetime.now(UTC), lease):  # noqa: ASYNC110
        await asyncio.sleep(poll)
    renewing = asyncio.create_task(_keep_renewing(db, name, token, lease))
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.wait([renewing])
        await release(db, name, token)


def _limits(now: datetime, lease: timedelta) -> dict[str, str]:
    """Between these times are the ends of the leases that hold."""
    return {"now": to_iso(now), "far": to_iso(now + lease + FAR)}


async def _keep_renewing(db: Database, name: str, token: str, lease: timedelta) -> None:
    while True:
        await asyncio.sleep(lease.total_seconds() / 4)
        # If the database does not answer, the work under the lock fails too.
        with suppress(DatabaseError):
            await renew(db, name, token, datetime.now(UTC), lease)
