"""Items that are in no list any more: unqueued, held back, released or marked as used.

An item that nobody can have taken is unqueued. One that may have been used is held back (`HELD`), until somebody
decides or, if the group says so, until a time has passed.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import and_, bindparam, func, or_, select

from feedmill.model.pool import LostPoolItem, PoolItemState, PoolKey
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list
from feedmill.store.pools.items import AT_HEAD, OF_POOL, WITH_TEXTS, change_items, listed
from feedmill.store.schema import pool_items, pool_texts

CHUNK_SIZE = 5000
_items = pool_items.c
_in_doubt = listed(PoolItemState.QUEUED, PoolItemState.HELD)

RELEASE = change_items(*_in_doubt, status=PoolItemState.AVAILABLE, batch_id=AT_HEAD, taken_by=None)
SETTLE_IN_DOUBT = change_items(*_in_doubt, status=PoolItemState.USED, taken_by=bindparam("token"))
UNQUEUE = change_items(
    *listed(PoolItemState.QUEUED), status=PoolItemState.AVAILABLE, taken_by=None, attempts=_items.attempts - 1
)
HOLD = change_items(*listed(PoolItemState.QUEUED), status=PoolItemState.HELD)
HOLD_EXPIRED = change_items(
    OF_POOL,
    _items.status == PoolItemState.LEASED,
    _items.leased_until <= bindparam("now"),
    status=PoolItemState.HELD,
    leased_until=None,
)
RELEASE_HELD = change_items(
    OF_POOL,
    _items.status == PoolItemState.HELD,
    _items.changed_at <= bindparam("before"),
    status=PoolItemState.AVAILABLE,
    batch_id=AT_HEAD,
    taken_by=None,
)
_queued = and_(OF_POOL, _items.status == PoolItemState.QUEUED)
SOME_QUEUED = select(_items.id).where(_queued).limit(CHUNK_SIZE)
COUNT_QUEUED = select(func.count().label("items")).where(_queued)
MAYBE_LOST = (
    select(
        _items.id,
        _items.entry_id,
        pool_texts.c.external_id,
        _items.changed_at,
        _items.taken_by,
        _items.status,
    )
    .select_from(WITH_TEXTS)
    .where(
        OF_POOL,
        or_(
            _items.status == PoolItemState.HELD,
            and_(_items.status == PoolItemState.QUEUED, _items.changed_at < bindparam("before")),
        ),
    )
    .order_by(_items.id)
)
STILL_IN_DOUBT = select(_items.id).where(*_in_doubt).order_by(_items.id)


async def unqueue_items(db: Database, ids: Sequence[int], now: datetime) -> int:
    """Makes queued items available again that nobody has taken, at their place in the pool."""
    [changed] = await db.batch([Step(UNQUEUE, _listed_now(ids, now))])
    return changed


async def hold_items(db: Database, ids: Sequence[int], now: datetime) -> int:
    """Holds back queued items that may have been used."""
    [changed] = await db.batch([Step(HOLD, _listed_now(ids, now))])
    return changed


async def hold_expired_items(db: Database, pool: PoolKey, now: datetime) -> int:
    """Holds back the items of consumers that were killed: they may have been handed out."""
    [changed] = await db.batch([Step(HOLD_EXPIRED, {**pool.values, "now": to_iso(now), "at": to_iso(now)})])
    return changed


async def release_items(db: Database, ids: Sequence[int], now: datetime) -> int:
    """Makes queued and held items available again, at the head of their pool."""
    [released] = await db.batch([Step(RELEASE, _listed_now(ids, now))])
    return released


async def release_held_items(db: Database, pool: PoolKey, before: datetime, now: datetime) -> int:
    """Makes the items available again that have been held back since `before`."""
    values = {**pool.values, "before": to_iso(before), "at": to_iso(now)}
    [released] = await db.batch([Step(RELEASE_HELD, values)])
    return released


async def settle_items_in_doubt(db: Database, ids: Sequence[int], token: str, now: datetime) -> int:
    """Marks queued and held items as used."""
    [settled] = await db.batch([Step(SETTLE_IN_DOUBT, _listed_now(ids, now) | {"token": token})])
    return settled


async def some_queued_ids(db: Database, pool: PoolKey) -> list[int]:
    """The ids of up to `CHUNK_SIZE` queued items."""
    return [row["id"] for row in await db.query(SOME_QUEUED, pool.values)]


async def count_queued(db: Database, pool: PoolKey) -> int:
    [row] = await db.query(COUNT_QUEUED, pool.values)
    return int(row["items"])


async def held_or_queued_before(db: Database, pool: PoolKey, before: datetime) -> list[LostPoolItem]:
    """Items that are held back, and those that were queued before that time."""
    return [
        LostPoolItem(
            row["id"],
            row["entry_id"],
            row["external_id"],
            from_iso(row["changed_at"]),
            row["taken_by"],
            is_held=row["status"] == PoolItemState.HELD,
        )
        for row in await db.query(MAYBE_LOST, {**pool.values, "before": to_iso(before)})
    ]


async def still_in_doubt(db: Database, ids: Sequence[int]) -> set[int]:
    """Those of these items that are still queued or held back."""
    return {row["id"] for row in await db.query(STILL_IN_DOUBT, {"ids": as_list(list(ids))})}


def _listed_now(ids: Sequence[int], now: datetime) -> dict[str, str]:
    return {"ids": as_list(list(ids)), "at": to_iso(now)}
