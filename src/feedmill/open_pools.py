"""Builds the pools, for the app, and alone for commands that need neither fetching nor pages."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from feedmill.html.sanitize import sanitize_html
from feedmill.optional_imports import import_by_name
from feedmill.pools.item_texts import ItemTexts
from feedmill.pools.pool_tools import PoolLists, PoolTools
from feedmill.pools.service import PoolService
from feedmill.settings import Settings
from feedmill.store.database import Database

REDIS_QUEUES = "feedmill.coordination.connect_redis:connect_pool_queues"


@asynccontextmanager
async def open_pools(settings: Settings, db: Database) -> AsyncIterator[PoolService]:
    """Opens the pools, with Redis or the database alone."""
    async with AsyncExitStack() as stack:
        lists = None
        if url := settings.redis.get_secret_value():
            lists = PoolLists(*await stack.enter_async_context(import_by_name(REDIS_QUEUES)(url)))
        yield PoolService(PoolTools(db, ItemTexts(sanitize_html), lists))
