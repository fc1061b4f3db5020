"""At least once: leases items, and makes them available again when a lease ends without acknowledgement.

Leases use the database only: a lease must be stored before its item is handed out, so a list would save nothing.
"""

from datetime import timedelta

from feedmill.model.pool import PoolItemState, PoolLease
from feedmill.pools.claim_tokens import new_token
from feedmill.pools.pool import Pool
from feedmill.pools.pool_tools import PoolTools
from feedmill.store.pools.items import claim_items, expire_items


async def lease_items(tools: PoolTools, pool: Pool, most: int, who: str, length: timedelta | None = None) -> PoolLease:
    """Leases up to `most` items for `length`; if none is available, items whose lease has expired."""
    leased = await _claim(tools, pool, most, who, length)
    if len(leased.items) < most and await end_expired_leases(tools, pool) and not leased.items:
        return await _claim(tools, pool, most, who, length)
    return leased


async def end_expired_leases(tools: PoolTools, pool: Pool) -> int:
    """Ends expired leases; returns how many items that was."""
    return await expire_items(tools.db, pool.key, pool.options.most_attempts, tools.clock())


async def _claim(tools: PoolTools, pool: Pool, most: int, who: str, length: timedelta | None) -> PoolLease:
    now, token = tools.clock(), new_token(who)
    until = now + (length or pool.options.lease)
    sources = await claim_items(tools.db, pool.key, most, PoolItemState.LEASED, token, now, until)
    items = await tools.texts.items(pool.kind, pool.options, sources)
    return PoolLease(token, until, tuple(items), tuple(source.attempts for source in sources))
