"""Marks items as used that a consumer has handed out, in chunks, with retries."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from feedmill.errors import DatabaseError
from feedmill.lazy_loggers import get_logger
from feedmill.model.pool import PoolKey
from feedmill.pools.errors import ItemsNotMarkedUsed
from feedmill.pools.held_item import HeldItem, ids_by_token
from feedmill.store.database import Database
from feedmill.store.pools.prefetched_items import mark_prefetched_used

log = get_logger(__name__)

CHUNK_SIZE = 500
FLUSH_EVERY = 1.0
CLOSE_TIMEOUT = 10.0


class UsedItemBuffer:
    """Collects the items that were handed out and marks them as used."""

    def __init__(
        self,
        db: Database,
        pool: PoolKey,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        timeout: float = CLOSE_TIMEOUT,
    ) -> None:
        self._db = db
        self._pool = pool
        self._clock = clock
        self._timeout = timeout
        self._waiting: list[HeldItem] = []
        self._flushing = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, items: Iterable[HeldItem]) -> None:
        self._waiting.extend(items)

    async def flush(self) -> bool:
        """Marks the waiting items; False when the database fails, and then they keep waiting."""
        async with self._flushing:
            while chunk := self._waiting[:CHUNK_SIZE]:
                try:
                    for token, ids in ids_by_token(chunk):
                        await mark_prefetched_used(self._db, self._pool, ids, token, self._clock())
                except DatabaseError as error:
                    log.warning("pool_used_marks_delayed", items=len(self._waiting), reason=str(error))
                    return False
                del self._waiting[: len(chunk)]
        return True

    async def keep_flushing(self) -> None:
        """Flushes every second; cancel it to stop."""
        while True:
            await asyncio.sleep(FLUSH_EVERY)
            await self.flush()

    async def close(self) -> None:
        """Flushes with retries; raises `ItemsNotMarkedUsed` with the items that could not be marked."""
        deadline = asyncio.get_running_loop().time() + self._timeout
        while not await self.flush():
            if asyncio.get_running_loop().time() >= deadline:
                left, self._waiting = [held.item.id for held in self._waiting], []
                log.error("pool_items_not_marked_used", item_ids=left)
                raise ItemsNotMarkedUsed(left)
            await asyncio.sleep(min(0.2, self._timeout))
