"""At most once: an item leaves its list or its state in the database by one atomic step, and never comes back.

list, if it answers → what the database says of it → marked as used → handed out; the rest from the database
"""

from collections.abc import Sequence

import structlog

from feedmill.coordination.queues import Queued
from feedmill.errors import DatabaseError
from feedmill.model.pool import Item, State
from feedmill.pools.settle import Settler
from feedmill.pools.tools import Pool, PoolTools, token_for
from feedmill.store.pools import claim_items, count_used, read_texts, settle_items, standing, taken_with

log = structlog.get_logger(__name__)


async def pop(tools: PoolTools, pool: Pool, most: int, who: str, settler: Settler) -> list[Item]:
    """Up to `most` items, for good; `settler` gets the marks that the database did not take at once."""
    popped = await take_listed(tools, pool, most)
    items = await _hand_out(tools, pool, popped, who, settler) if popped else []
    if len(items) < most:
        items += await take_available(tools, pool, most - len(items), State.USED, token_for(who))
    return items


async def take_listed(tools: PoolTools, pool: Pool, most: int) -> list[Queued]:
    """Items out of the list; none when it is empty, does not answer, or there is no Redis."""
    lists = tools.lists
    if lists is None:
        return []
    return await lists.health.ask(lambda: lists.queues.pop(pool.list_name, most)) or []


async def take_available(tools: PoolTools, pool: Pool, most: int, to: State, token: str) -> list[Item]:
    """Items straight from the database, by the same states, so that no list can ever have them too."""
    rows = await claim_items(tools.db, pool.key, most, to, token, tools.clock())
    if tools.lists is not None:
        tools.fallbacks[pool.key] += len(rows)
    return await tools.texts.items(pool.kind, pool.options, rows)


async def current_items(tools: PoolTools, pool: Pool, popped: Sequence[Queued]) -> list[Item]:
    """What may still be handed out of what was taken out of a list, with the texts as they are now."""
    edited = await standing(tools.db, [queued.id for queued in popped])
    if gone := [queued.id for queued in popped if queued.id not in edited]:
        tools.doubles[pool.key] += await count_used(tools.db, gone)
    stale = [queued.id for queued in popped if edited.get(queued.id) or (queued.ref and queued.id in edited)]
    rows = await read_texts(tools.db, pool.kind, stale) if stale else []
    fresh = {item.id: item for item in await tools.texts.items(pool.kind, pool.options, rows)}
    return [fresh.get(queued.id) or Item(queued.id, queued.text) for queued in popped if queued.id in edited]


def as_listed(popped: Sequence[Queued]) -> list[Item]:
    """What was taken out of a list, as it stood there: for when the database can't be asked."""
    return [Item(queued.id, queued.text) for queued in popped if not queued.ref]


async def _hand_out(tools: PoolTools, pool: Pool, popped: Sequence[Queued], who: str, settler: Settler) -> list[Item]:
    items = as_listed(popped)
    try:
        items = await current_items(tools, pool, popped)
        return await _marked(tools, items, token_for(who))
    except DatabaseError as error:
        # They are out of the list, so nobody else can get them.
        log.warning("items are handed out before they can be marked as used", items=len(items), reason=str(error))
        settler.add(item.id for item in items)
        return items


async def _marked(tools: PoolTools, items: list[Item], token: str) -> list[Item]:
    """Those of the items that could be marked as used by us: all, unless somebody released them meanwhile."""
    ids = [item.id for item in items]
    if not ids or await settle_items(tools.db, ids, token, tools.clock()) == len(ids):
        return items
    ours = await taken_with(tools.db, token)
    return [item for item in items if item.id in ours]
