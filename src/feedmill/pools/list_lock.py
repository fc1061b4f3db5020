"""The lock of a pool's Redis list: whoever fills or recovers the list holds it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from feedmill.coordination.pool_queues import FILL_LOCK_LENGTH, FillLock, fill_lock_name
from feedmill.pools.claim_tokens import new_token
from feedmill.pools.pool import Pool
from feedmill.pools.pool_tools import PoolLists


@asynccontextmanager
async def lock_list(lists: PoolLists, pool: Pool, who: str) -> AsyncIterator[FillLock | None]:
    """Locks the pool's list; yields None while somebody else holds the lock."""
    lock = FillLock(pool.list_name, new_token(who))
    if not await lists.locks.lock(fill_lock_name(lock.name), lock.owner, FILL_LOCK_LENGTH):
        yield None
        return
    try:
        yield lock
    finally:
        await lists.locks.release(fill_lock_name(lock.name), lock.owner)


async def renew_list_lock(lists: PoolLists, lock: FillLock) -> bool:
    """Extends the lock; False when it is no longer ours."""
    return await lists.locks.renew(fill_lock_name(lock.name), lock.owner, FILL_LOCK_LENGTH)
