"""What is queued and in no list: told, and made available again or marked as used, both only on command."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from feedmill.coordination.queues import FILLING_LENGTH
from feedmill.model.pool import LostItem
from feedmill.pools.tools import FILLER, Lists, NothingToAsk, Pool, PoolTools, token_for
from feedmill.store.pools import queued_before, release_items, settle_items, still_queued

# A filler that holds its lock may still push what it has reserved.
YOUNGEST = 2 * FILLING_LENGTH
# Whoever took an item just now needs a moment to mark it.
LOOK_AGAIN = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Search:
    """How lost items are looked for: queued for so long, and missing at two looks so far apart."""

    youngest: timedelta = YOUNGEST
    look_again: timedelta = LOOK_AGAIN


DEFAULT_SEARCH = Search()


async def find_lost(tools: PoolTools, pool: Pool, search: Search = DEFAULT_SEARCH) -> list[LostItem]:
    """The items of which nobody knows whether they were handed out."""
    queued = await queued_before(tools.db, pool.key, tools.clock() - search.youngest)
    missing = await _missing(tools.lists, pool, queued)
    if not missing:
        return []
    await asyncio.sleep(search.look_again.total_seconds())
    there = await still_queued(tools.db, [item.id for item in missing])
    return [item for item in missing if item.id in there]


async def release_lost(tools: PoolTools, pool: Pool, search: Search = DEFAULT_SEARCH) -> int:
    """Makes lost items available again. Some of them may have been handed out: that is for a person to judge."""
    lost = await find_lost(tools, pool, search)
    return await release_items(tools.db, [item.id for item in lost], tools.clock()) if lost else 0


async def settle_lost(tools: PoolTools, pool: Pool, search: Search = DEFAULT_SEARCH) -> int:
    """Marks lost items as used, for programs that take items and never say so."""
    lost = await find_lost(tools, pool, search)
    token = token_for("settled on command")
    return await settle_items(tools.db, [item.id for item in lost], token, tools.clock()) if lost else 0


async def _missing(lists: Lists | None, pool: Pool, queued: list[LostItem]) -> list[LostItem]:
    if lists is not None and queued:
        held = await lists.queues.held(pool.list_name)
        return [item for item in queued if item.id not in held]
    if any((item.queued_by or "").startswith(FILLER) for item in queued):
        raise NothingToAsk(f"some {pool} are in a list: name the Redis that has it (setting redis)")
    return queued
