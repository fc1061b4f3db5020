"""Notices that Redis has lost the list of a pool, and recovers the items that were in it.

Each list has a token, its `life`, in Redis and in the database. When they differ, the list was lost. If only our own
calls take from it, nobody has its items: our calls mark an item in the database before they hand it out. So the items
become available again at once. If other programs take with RPOP, some items may have been used, and all are held back.
"""

from dataclasses import replace
from datetime import timedelta
from secrets import token_hex

from feedmill.coordination.pool_queues import FillLock
from feedmill.lazy_loggers import get_logger
from feedmill.pools.pool import Pool
from feedmill.pools.pool_tools import PoolLists, PoolTools
from feedmill.store.pools.lists import (
    PoolListRecord,
    end_list_life,
    read_list_record,
    record_rpop,
    set_list_life,
)
from feedmill.store.pools.lost_items import hold_items, some_queued_ids, unqueue_items

log = get_logger(__name__)

# For so long after an RPOP of another program, further ones are expected.
RPOP_MEMORY = timedelta(days=30)
DRAIN_CHUNK = 500


def is_shared(tools: PoolTools, pool: Pool, record: PoolListRecord) -> bool:
    """Whether other programs may have taken from the list."""
    seen = record.rpop_seen_at
    return pool.group.loss.others_rpop or (seen is not None and seen > tools.clock() - RPOP_MEMORY)


async def watch_for_rpop(tools: PoolTools, lists: PoolLists, pool: Pool) -> None:
    """Records in the database if another program took from the list since the last call."""
    taken = (await lists.queues.observe(pool.list_name)).taken_by_others
    if taken:
        await record_rpop(tools.db, pool.key, tools.clock())
        await lists.queues.forget_taken_by_others(pool.list_name, taken)


async def recover_list(tools: PoolTools, lists: PoolLists, pool: Pool, lock: FillLock) -> FillLock | None:
    """The lock with the life of the list; a list that was lost is started anew. None when the lock is lost."""
    record = await read_list_record(tools.db, pool.key)
    observed = await lists.queues.observe(pool.list_name)
    if record.life is not None and observed.life == record.life:
        return replace(lock, life=record.life)
    returned = await drain_list(tools, lists, pool)
    hold = is_shared(tools, pool, record)
    left = await _end_queueing(tools, pool, hold=hold)
    if returned or left:
        log.warning("pool_list_lost", pool=str(pool), available=returned + left * (not hold), held=left * hold)
    started = replace(lock, life=token_hex(16))
    await set_list_life(tools.db, pool.key, started.life)
    return started if await lists.queues.start(started) else None


async def recover_for_pop(tools: PoolTools, pool: Pool) -> bool:
    """Whether items became available because their list was lost or can't be reached, and nobody else takes from it.

    Needs no lock: an item that is in a list nevertheless is not handed out from there, because it is not queued.
    """
    record = await read_list_record(tools.db, pool.key)
    if record.life is None or is_shared(tools, pool, record):
        return False
    if (lists := tools.lists) is not None:
        observed = await lists.health.call_service(lambda: lists.queues.observe(pool.list_name))
        if observed is not None and observed.life == record.life:
            return False
    if not await end_list_life(tools.db, pool.key, record.life):
        return False
    available = await _end_queueing(tools, pool, hold=False)
    log.warning("pool_list_lost", pool=str(pool), available=available, held=0)
    return available > 0


async def drain_list(tools: PoolTools, lists: PoolLists, pool: Pool) -> int:
    """Takes all items out of the list and makes them available again; returns how many."""
    drained = 0
    while popped := await lists.queues.pop(pool.list_name, DRAIN_CHUNK):
        drained += await unqueue_items(tools.db, [item.id for item in popped], tools.clock())
    return drained


async def _end_queueing(tools: PoolTools, pool: Pool, *, hold: bool) -> int:
    """Holds back all queued items of the pool, or makes them available; returns how many."""
    changed = 0
    while ids := await some_queued_ids(tools.db, pool.key):
        changed += await (hold_items if hold else unqueue_items)(tools.db, ids, tools.clock())
    return changed
