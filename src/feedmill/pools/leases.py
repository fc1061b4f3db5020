"""At least once: items are lent, and come back to the head of their pool unless they are acknowledged in time.

Served by the database alone: a lease must be written down before its item is shown, so a list would save nothing.
"""

from datetime import timedelta

from feedmill.model.pool import Leased, State
from feedmill.pools.tools import Pool, PoolTools, token_for
from feedmill.store.pools import claim_items, expire_items


async def lend(tools: PoolTools, pool: Pool, most: int, who: str, length: timedelta | None = None) -> Leased:
    """Up to `most` items, for `length`; with what was not settled in time, if there is nothing else."""
    leased = await _claim(tools, pool, most, who, length)
    if len(leased.items) < most and await take_back(tools, pool) and not leased.items:
        return await _claim(tools, pool, most, who, length)
    return leased


async def take_back(tools: PoolTools, pool: Pool) -> int:
    """Ends the leases that are over."""
    return await expire_items(tools.db, pool.key, pool.options.most_attempts, tools.clock())


async def _claim(tools: PoolTools, pool: Pool, most: int, who: str, length: timedelta | None) -> Leased:
    now, token = tools.clock(), token_for(who)
    until = now + (length or pool.options.lease)
    rows = await claim_items(tools.db, pool.key, most, State.LEASED, token, now, until)
    items = await tools.texts.items(pool.kind, pool.options, rows)
    return Leased(token, until, tuple(items), tuple(row["attempts"] for row in rows))
