"""At least once: leases items, and takes them back when the lease ends without an acknowledgement.

Served by the database alone: a lease must be written down before its item is shown, so a list would save nothing.
"""

from datetime import timedelta

from feedmill.model.pool import PoolItemState, PoolLease
from feedmill.pools.pool import Pool, PoolTools
from feedmill.pools.tokens import new_token
from feedmill.store.pools.items import claim_items, expire_items


async def lease_items(tools: PoolTools, pool: Pool, most: int, who: str, length: timedelta | None = None) -> PoolLease:
    """Up to `most` items, for `length`; with what was not settled in time, if there is nothing else."""
    leased = await _claim(tools, pool, most, who, length)
    if len(leased.items) < most and await end_expired_leases(tools, pool) and not leased.items:
        return await _claim(tools, pool, most, who, length)
    return leased


async def end_expired_leases(tools: PoolTools, pool: Pool) -> int:
    """Ends the leases that are over."""
    return await expire_items(tools.db, pool.key, pool.options.most_attempts, tools.clock())


async def _claim(tools: PoolTools, pool: Pool, most: int, who: str, length: timedelta | None) -> PoolLease:
    now, token = tools.clock(), new_token(who)
    until = now + (length or pool.options.lease)
    sources = await claim_items(tools.db, pool.key, most, PoolItemState.LEASED, token, now, until)
    items = await tools.texts.items(pool.kind, pool.options, sources)
    return PoolLease(token, until, tuple(items), tuple(source.attempts for source in sources))
