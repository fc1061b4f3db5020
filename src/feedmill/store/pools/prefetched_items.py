"""Items that a consumer in Python has fetched: leased to it until it has handed them out and marked them as used."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam

from feedmill.model.pool import PoolItemState, PoolKey
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list
from feedmill.store.pools.items import OF_POOL, change_items, listed
from feedmill.store.schema import pool_items

TAKE = change_items(
    *listed(PoolItemState.QUEUED),
    status=PoolItemState.LEASED,
    taken_by=bindparam("token"),
    leased_until=bindparam("until"),
)
# Held back too: the lease may have ended while the database did not answer.
MARK_USED = change_items(
    *listed(PoolItemState.LEASED, PoolItemState.HELD),
    pool_items.c.taken_by == bindparam("lease_token"),
    OF_POOL,
    status=PoolItemState.USED,
    leased_until=None,
)


async def take_queued_items(db: Database, ids: Sequence[int], token: str, until: datetime, now: datetime) -> int:
    """Leases queued items that were popped from their list; how many of them were still queued."""
    values = {"ids": as_list(list(ids)), "token": token, "until": to_iso(until), "at": to_iso(now)}
    [taken] = await db.batch([Step(TAKE, values)])
    return taken


async def mark_prefetched_used(db: Database, pool: PoolKey, ids: Sequence[int], token: str, now: datetime) -> int:
    """Marks items as used that the consumer with this token has handed out; how many it still had."""
    values = {**pool.values, "ids": as_list(list(ids)), "lease_token": token, "at": to_iso(now)}
    [marked] = await db.batch([Step(MARK_USED, values)])
    return marked
