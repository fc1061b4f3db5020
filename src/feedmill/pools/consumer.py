"""An async iterator over items handed out at most once, for Python programs.

async with pools.consumer("news") as consumer:
    async for item in consumer:
        print(item.text)
"""

import asyncio
from collections import deque
from contextlib import suppress
from datetime import timedelta
from types import TracebackType
from typing import Self

from feedmill.errors import DatabaseError
from feedmill.lazy_loggers import get_logger
from feedmill.model.pool import PoolItem, PoolItemState
from feedmill.pools.claim_tokens import new_token
from feedmill.pools.held_item import HeldItem, ids_by_token
from feedmill.pools.lost_lists import recover_for_pop
from feedmill.pools.pool import Pool
from feedmill.pools.pool_tools import PoolTools
from feedmill.pools.pop import current_items, put_back, take_available, take_listed
from feedmill.pools.used_item_buffer import CHUNK_SIZE, UsedItemBuffer
from feedmill.store.pools.items import extend_items, give_back_items, item_ids_taken_with
from feedmill.store.pools.prefetched_items import take_queued_items

log = get_logger(__name__)

# Seconds before an empty pool is tried again.
EMPTY_WAIT = 1.0
# How long fetched items belong to the consumer. It extends this while it runs; after a crash they are held back.
PREFETCH_LEASE = timedelta(minutes=2)


class PoolConsumer:
    """Hands items out at most once. Items not handed out at the end are released; after a crash they are held back."""

    def __init__(self, tools: PoolTools, pool: Pool, who: str = "", *, wait: bool = True) -> None:
        self._tools = tools
        self._pool = pool
        self._who = who
        self._wait = wait
        self._handed = 0
        self._fetched_at = 0.0
        self._ready: deque[HeldItem] = deque()
        self._used_items = UsedItemBuffer(tools.db, pool.key, tools.clock)

    async def __aenter__(self) -> Self:
        self._tasks = [
            asyncio.create_task(self._used_items.keep_flushing()),
            asyncio.create_task(self._keep_extending()),
        ]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
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
        self._used_items.add(handed)
        self._handed += len(handed)
        return [held.item for held in handed]

    def _ahead(self) -> int:
        """About as many items as are handed out in a second, so that a slow program holds few back from others."""
        now = asyncio.get_running_loop().time()
        elapsed, self._fetched_at = max(now - self._fetched_at, 0.001), now
        pace, self._handed = self._handed / elapsed, 0
        return min(max(int(pace), 1), CHUNK_SIZE)

    async def _fetch(self, most: int) -> bool:
        """Takes items from the list or the database into `_ready`; False when there are none."""
        token = new_token(self._who)
        items = await self._take_listed(most, token) or await self._take_available(most, token)
        if not items and await recover_for_pop(self._tools, self._pool):
            items = await self._take_available(most, token)
        self._ready += [HeldItem(item, token) for item in items]
        return bool(items)

    async def _take_listed(self, most: int, token: str) -> list[PoolItem]:
        """Items of the list, leased in the database before they are handed out; the others are not handed out."""
        tools, pool = self._tools, self._pool
        popped = await take_listed(tools, pool, most)
        if not popped:
            return []
        try:
            items = await current_items(tools, pool, popped)
            ids, now = [item.id for item in items], tools.clock()
            if await take_queued_items(tools.db, ids, token, now + PREFETCH_LEASE, now) == len(ids):
                return items
            taken = await item_ids_taken_with(tools.db, token)
        except DatabaseError:
            await put_back(tools, pool, popped)
            raise
        return [item for item in items if item.id in taken]

    async def _take_available(self, most: int, token: str) -> list[PoolItem]:
        until = self._tools.clock() + PREFETCH_LEASE
        return await take_available(self._tools, self._pool, most, PoolItemState.LEASED, token, until)

    async def _keep_extending(self) -> None:
        while True:
            await asyncio.sleep(PREFETCH_LEASE.total_seconds() / 3)
            try:
                for token, ids in ids_by_token(self._ready):
                    until = self._tools.clock() + PREFETCH_LEASE
                    await extend_items(self._tools.db, self._pool.key, ids, token, until)
            except DatabaseError as error:
                log.warning("pool_leases_not_extended", reason=str(error))

    async def _release(self) -> None:
        left = ids_by_token(self._ready)
        self._ready.clear()
        for token, ids in left:
            try:
                await give_back_items(self._tools.db, self._pool.key, ids, token, self._tools.clock())
            except DatabaseError as error:
                log.error("pool_items_not_released", item_ids=ids, reason=str(error))
