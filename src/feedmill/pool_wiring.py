"""Builds the pools alone, for commands that need nothing that fetches or shows feeds."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from feedmill.html.sanitize import sanitize_html
from feedmill.lazy_imports import lazy_import
from feedmill.pools.item_texts import ItemTexts
from feedmill.pools.pool import PoolLists, PoolTools
from feedmill.pools.service import PoolService
from feedmill.settings import Settings
from feedmill.store.database import Database

REDIS_QUEUES = "feedmill.coordination.connect_redis:connect_pool_queues"


@asynccontextmanager
async def opened_pools(settings: Settings, db: Database) -> AsyncIterator[PoolService]:
    """Pools on Redis, or on the database alone; at the end the marks that wait are written."""
    async with AsyncExitStack() as closing:
        lists = None
        if url := settings.redis.get_secret_value():
            lists = PoolLists(*await closing.enter_async_context(lazy_import(REDIS_QUEUES)(url)))
        pools = PoolService(PoolTools(db, ItemTexts(sanitize_html), lists))
        closing.push_async_callback(pools.close)
        yield pools
