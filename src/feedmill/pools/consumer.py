"""An async iterator over items handed out at most once, for Python programs.

async with pools.consumer("news") as consumer:
    async for item in consumer:
        print(item.text)
"""

import asyncio
from collections import deque
from contextlib import suppress
from types import TracebackType
from typing import Self

from feedmill.errors import DatabaseError
from feedmill.lazy_loggers import get_logger
from feedmill.model.pool import PoolItem, PoolItemState
from feedmill.pools.claim_tokens import new_token
from feedmill.pools.pool import Pool
from feedmill.pools.pool_tools import PoolTools
from feedmill.pools.pop import as_listed, current_items, take_available, take_listed
from feedmill.pools.used_item_buffer import CHUNK_SIZE, UsedItemBuffer
from feedmill.store.pools.items import release_items

log = get_logger(__name__)

# Seconds before an empty pool is tried again.
EMPTY_WAIT = 1.0


class PoolConsumer:
    """Hands items out at most once. Items not handed out at the end are released; after a crash they stay queued."""

    def __init__(self, tools: PoolTools, pool: Pool, who: str = "", *, wait: bool = True) -> None:
        self._tools = tools
        self._pool = pool
        self._who = who
        self._wait = wait
        self._handed = 0
        self._fetched_at = 0.0
        self._ready: deque[PoolItem] = deque()
        self._used_items = UsedItemBuffer(tools.db, who, tools.clock)

    async def __aenter__(self) -> Self:
        self._flushing = asyncio.create_task(self._used_items.keep_flushing())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._flushing.cancel()
        with suppress(asyncio.CancelledError):
            await self._flushing
        await self._release()
        await self._used_items.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> PoolItem:
        if self._ready:
            return self._hand_out(1)[0]
        items = await self.take(1)
        while not items:
            if not self._wait:
                raise StopAsyncIteration
            await asyncio.sleep(EMPTY_WAIT)
            items = await self.take(1)
        return items[0]

    async def take(self, most: int) -> list[PoolItem]:
        """Returns up to `most` items; fewer when the pool has no more now."""
        while len(self._ready) < most and await self._fetch(max(most, self._ahead())):
            pass
        handed = self._hand_out(most)
        if len(self._used_items) >= CHUNK_SIZE:
            await self._used_items.flush()
        return handed

    def _hand_out(self, most: int) -> list[PoolItem]:
        handed = [self._ready.popleft() for _ in range(min(most, len(self._ready)))]
        self._used_items.add(item.id for item in handed)
        self._handed += len(handed)
        return handed

    def _ahead(self) -> int:
        """About as many items as are handed out in a second, so that a slow program holds few back from others."""
        now = asyncio.get_running_loop().time()
        elapsed, self._fetched_at = max(now - self._fetched_at, 0.001), now
        pace, self._handed = self._handed / elapsed, 0
        return min(max(int(pace), 1), CHUNK_SIZE)

    async def _fetch(self, most: int) -> bool:
        """Takes items from the list or the database into `_ready`; False when there are none."""
        popped = await take_listed(self._tools, self._pool, most)
        if popped:
            try:
                self._ready += await current_items(self._tools, self._pool, popped)
            except DatabaseError as error:
                log.warning("pool_items_handed_out_unchecked", items=len(popped), reason=str(error))
                self._ready += as_listed(popped)
            return True
        token = new_token(self._who)
        items = await take_available(self._tools, self._pool, most, PoolItemState.QUEUED, token)
        self._ready += items
        return bool(items)

    async def _release(self) -> None:
        left = [item.id for item in self._ready]
        self._ready.clear()
        if not left:
            return
        try:
            await release_items(self._tools.db, left, self._tools.clock())
        except DatabaseError as error:
            log.error("pool_items_not_released", item_ids=left, reason=str(error))
