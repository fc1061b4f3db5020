"""At most once: pops items from the Redis list or the database, and marks them as used.

take from the list → check in the database → mark as used → hand out; take the rest from the database; if there is
nothing, recover a lost list
"""

from collections.abc import Sequence
from datetime import datetime

from feedmill.coordination.pool_queues import QueuedItem
from feedmill.errors import DatabaseError
from feedmill.model.pool import PoolItem, PoolItemState
from feedmill.pools.claim_tokens import new_token
from feedmill.pools.lost_lists import recover_for_pop
from feedmill.pools.pool import Pool
from feedmill.pools.pool_tools import PoolTools
from feedmill.store.pools.items import (
    claim_items,
    count_used,
    item_ids_taken_with,
    queued_and_edited,
    read_item_sources,
    settle_items,
)


async def pop(tools: PoolTools, pool: Pool, most: int, who: str) -> list[PoolItem]:
    """Pops up to `most` items, each of which is marked as used before it is handed out."""
    popped = await take_listed(tools, pool, most)
    items = await _hand_out(tools, pool, popped, who) if popped else []
    if len(items) < most:
        items += await take_available(tools, pool, most - len(items), PoolItemState.USED, new_token(who))
    if not items and await recover_for_pop(tools, pool):
        items = await take_available(tools, pool, most, PoolItemState.USED, new_token(who))
    return items


async def take_listed(tools: PoolTools, pool: Pool, most: int) -> list[QueuedItem]:
    """Pops items from the list; none when it is empty, does not answer, or there is no Redis."""
    lists = tools.lists
    if lists is None:
        return []
    return await lists.health.call_service(lambda: lists.queues.pop(pool.list_name, most)) or []


async def put_back(tools: PoolTools, pool: Pool, popped: Sequence[QueuedItem]) -> None:
    """Returns items to the list that were not handed out. If Redis does not answer, they are found missing later."""
    if (lists := tools.lists) is not None:
        await lists.health.call_service(lambda: lists.queues.put_back(pool.list_name, popped))


async def take_available(
    tools: PoolTools, pool: Pool, most: int, to: PoolItemState, token: str, until: datetime | None = None
) -> list[PoolItem]:
    """Claims items in the database, by the same states, so that no list can contain them too."""
    sources = await claim_items(tools.db, pool.key, most, to, token, tools.clock(), until)
    if tools.lists is not None:
        tools.fallbacks[pool.key] += len(sources)
    return await tools.texts.items(pool.kind, pool.options, sources)


async def current_items(tools: PoolTools, pool: Pool, popped: Sequence[QueuedItem]) -> list[PoolItem]:
    """The popped items that may still be handed out, with their current texts."""
    edited = await queued_and_edited(tools.db, [queued.id for queued in popped])
    if gone := [queued.id for queued in popped if queued.id not in edited]:
        tools.duplicates[pool.key] += await count_used(tools.db, gone)
    stale = [queued.id for queued in popped if edited.get(queued.id) or (queued.ref and queued.id in edited)]
    sources = await read_item_sources(tools.db, pool.kind, stale) if stale else []
    fresh = {item.id: item for item in await tools.texts.items(pool.kind, pool.options, sources)}
    return [fresh.get(queued.id) or PoolItem(queued.id, queued.text) for queued in popped if queued.id in edited]


async def _hand_out(tools: PoolTools, pool: Pool, popped: Sequence[QueuedItem], who: str) -> list[PoolItem]:
    try:
        items = await current_items(tools, pool, popped)
        return await _mark_used(tools, items, new_token(who))
    except DatabaseError:
        await put_back(tools, pool, popped)
        raise


async def _mark_used(tools: PoolTools, items: list[PoolItem], token: str) -> list[PoolItem]:
    """The items that this call marked as used: all, unless somebody released some in the meantime."""
    ids = [item.id for item in items]
    if not ids or await settle_items(tools.db, ids, token, tools.clock()) == len(ids):
        return items
    marked = await item_ids_taken_with(tools.db, token)
    return [item for item in items if item.id in marked]
