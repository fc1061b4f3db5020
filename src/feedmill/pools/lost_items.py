"""Finds items that are held back, or queued but in no list; releases them or marks them as used on request."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from feedmill.i18n.messages import Message
from feedmill.model.pool import Guarantee, LostPoolItem
from feedmill.pools.audit_queued_items import MIN_QUEUED_AGE
from feedmill.pools.claim_tokens import new_token
from feedmill.pools.errors import NoPoolLists
from feedmill.pools.pool import FILLER, Pool
from feedmill.pools.pool_tools import PoolLists, PoolTools
from feedmill.store.pools.lost_items import (
    held_or_queued_before,
    hold_expired_items,
    release_items,
    settle_items_in_doubt,
    still_in_doubt,
)

# A program that just took an item needs a moment to mark it.
RECHECK_AFTER = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class LostItemSearch:
    """How lost items are found: queued for `min_age`, and missing in two checks `look_again` apart."""

    min_age: timedelta = MIN_QUEUED_AGE
    look_again: timedelta = RECHECK_AFTER


DEFAULT_LOST_ITEM_SEARCH = LostItemSearch()


async def find_lost_items(
    tools: PoolTools, pool: Pool, search: LostItemSearch = DEFAULT_LOST_ITEM_SEARCH
) -> list[LostPoolItem]:
    """The items of which it is unknown whether they were handed out."""
    if pool.options.guarantee is Guarantee.AT_MOST_ONCE:
        await hold_expired_items(tools.db, pool.key, tools.clock())
    found = await held_or_queued_before(tools.db, pool.key, tools.clock() - search.min_age)
    missing = await _missing(tools.lists, pool, [item for item in found if not item.is_held])
    if missing:
        await asyncio.sleep(search.look_again.total_seconds())
        still_there = await still_in_doubt(tools.db, [item.id for item in missing])
        missing = [item for item in missing if item.id in still_there]
    return sorted([item for item in found if item.is_held] + missing, key=lambda item: item.id)


async def release_lost_items(tools: PoolTools, pool: Pool, search: LostItemSearch = DEFAULT_LOST_ITEM_SEARCH) -> int:
    """Makes lost items available again. Some may have been handed out: the caller must decide."""
    lost = await find_lost_items(tools, pool, search)
    return await release_items(tools.db, [item.id for item in lost], tools.clock()) if lost else 0


async def mark_lost_items_used(tools: PoolTools, pool: Pool, search: LostItemSearch = DEFAULT_LOST_ITEM_SEARCH) -> int:
    """Marks lost items as used, for programs that take items without reporting it."""
    lost = await find_lost_items(tools, pool, search)
    token = new_token("settled on command")
    return await settle_items_in_doubt(tools.db, [item.id for item in lost], token, tools.clock()) if lost else 0


async def _missing(lists: PoolLists | None, pool: Pool, queued: list[LostPoolItem]) -> list[LostPoolItem]:
    if lists is not None and queued:
        held = await lists.queues.queued_ids(pool.list_name)
        return [item for item in queued if item.id not in held]
    if any((item.queued_by or "").startswith(FILLER) for item in queued):
        raise NoPoolLists(Message("error.pool_list_elsewhere", pool=str(pool)))
    return queued
