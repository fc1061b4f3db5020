"""Builds the pools, for the app, and alone for commands that need neither fetching nor pages."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from feedmill.archive.object_keys import public_image_url
from feedmill.html.sanitize import sanitize_html
from feedmill.optional_imports import import_by_name
from feedmill.pools.item_texts import ItemTexts, PublicImages
from feedmill.pools.pool_tools import PoolLists, PoolTools
from feedmill.pools.service import PoolService
from feedmill.settings import Settings
from feedmill.store.archive.archived_images import archived_image_keys
from feedmill.store.database import Database

REDIS_QUEUES = "feedmill.coordination.connect_redis:connect_pool_queues"


@asynccontextmanager
async def open_pools(settings: Settings, db: Database) -> AsyncIterator[PoolService]:
    """Opens the pools, with Redis or the database alone."""
    async with AsyncExitStack() as stack:
        lists = None
        if url := settings.redis.get_secret_value():
            lists = PoolLists(*await stack.enter_async_context(import_by_name(REDIS_QUEUES)(url)))
        yield PoolService(PoolTools(db, ItemTexts(sanitize_html, _public_images(settings, db)), lists))


def _public_images(settings: Settings, db: Database) -> PublicImages | None:
    """Finds the public URLs of archived images, if the settings say that there are any."""

    async def find(entry_ids: Sequence[int]) -> dict[int, dict[str, str]]:
        keys_by_entry = await archived_image_keys(db, entry_ids)
        return {
            id: {url: public for url, key in keys.items() if (public := public_image_url(base_url, key))}
            for id, keys in keys_by_entry.items()
        }

    base_url = settings.images_base_url
    return find if base_url else None
