"""Locks in the database: a name, an owner's token and a lease that expires by itself."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from secrets import token_hex

from sqlalchemy import bindparam, select

from feedmill.errors import DatabaseError
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert_new, one_of
from feedmill.store.schema import locks

INSERT = insert_new(locks, "name", "token", "until")
TAKE_OVER = (
    locks.update()
    .where(locks.c.name == bindparam("key"), locks.c.until <= bindparam("now"))
    .values(token=bindparam("token"), until=bindparam("until"))
)
RENEW = (
    locks.update()
    .where(locks.c.name == bindparam("key"), locks.c.token == bindparam("own_token"))
    .values(until=bindparam("until"))
)
OWNER = select(locks.c.token).where(locks.c.name == bindparam("key"))
HELD = select(locks.c.name).where(one_of(locks.c.name, "names"), locks.c.until > bindparam("now"))
OWN = select(locks.c.name).where(one_of(locks.c.name, "names"), locks.c.token == bindparam("own_token"))
RELEASE = locks.delete().where(locks.c.name == bindparam("key"), locks.c.token == bindparam("own_token"))
DELETE_ALL = locks.delete()

LEASE = timedelta(seconds=20)


async def delete_all(db: Database) -> None:
    """Deletes all locks, in a copy that no process uses."""
    await db.batch([Step(DELETE_ALL)])


async def acquire(db: Database, name: str, token: str, now: datetime, lease: timedelta) -> bool:
    """Takes the lock if it is free; whether `token` owns it now. Taking it again does not renew it."""
    until = to_iso(now + lease)
    await db.batch(
        [
            Step(TAKE_OVER, {"key": name, "now": to_iso(now), "token": token, "until": until}),
            Step(INSERT, {"name": name, "token": token, "until": until}),
        ]
    )
    owner = await db.query(OWNER, {"key": name})
    return bool(owner) and owner[0]["token"] == token


async def acquire_all(db: Database, names: Sequence[str], token: str, now: datetime, lease: timedelta) -> set[str]:
    """Takes those of these locks that are free; the names of those that `token` owns now."""
    until = to_iso(now + lease)
    await db.batch(
        [
            Step(TAKE_OVER, [{"key": name, "now": to_iso(now), "token": token, "until": until} for name in names]),
            Step(INSERT, [{"name": name, "token": token, "until": until} for name in names]),
        ]
    )
    return {row["name"] for row in await db.query(OWN, {"names": as_list(list(names)), "own_token": token})}


async def held_locks(db: Database, names: Sequence[str], now: datetime) -> set[str]:
    """Those of these locks that are held now."""
    return {row["name"] for row in await db.query(HELD, {"names": as_list(list(names)), "now": to_iso(now)})}


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


async def _keep_renewing(db: Database, name: str, token: str, lease: timedelta) -> None:
    while True:
        await asyncio.sleep(lease.total_seconds() / 4)
        # If the database does not answer, the work under the lock fails too.
        with suppress(DatabaseError):
            await renew(db, name, token, datetime.now(UTC), lease)
