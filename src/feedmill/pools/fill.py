"""Fills the Redis list of a pool: items are reserved in the database first, then pushed.

lock → recover a lost list → (renew → reserve a chunk → push it)* → unlock
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from feedmill.coordination.pool_queues import FillLock, QueuedItem
from feedmill.model.pool import PoolItem, PoolItemState
from feedmill.pools.claim_tokens import new_token, process_name
from feedmill.pools.item_texts import to_queued_items
from feedmill.pools.list_lock import lock_list, renew_list_lock
from feedmill.pools.lost_lists import drain_list, recover_list
from feedmill.pools.pool import FILLER, Pool
from feedmill.pools.pool_tools import PoolLists, PoolTools
from feedmill.store.pools.items import claim_items, undo_queueing
from feedmill.store.pools.lost_items import count_queued, settle_items_in_doubt, unqueue_items

CHUNK_SIZE = 500
# One push is one Redis command; a larger one would delay the other clients of Redis.
MAX_PUSH_BYTES = 8_000_000


@dataclass(slots=True)
class Filler:
    tools: PoolTools
    lists: PoolLists
    name: str = field(default_factory=lambda: f"{FILLER} {process_name()}")
    chunk_size: int = CHUNK_SIZE
    # Tokens of reservations that may or may not have been written; none of their items was pushed.
    _unconfirmed: set[str] = field(default_factory=set)

    async def fill(self, pool: Pool) -> int:
        """Fills the list if it is low and nobody else fills it; returns the number of items added."""
        length = await self.lists.queues.length(pool.list_name)
        return await self.top_up(pool) if length < pool.options.refill_below else 0

    async def top_up(self, pool: Pool) -> int:
        """Fills the list, low or not, unless somebody else does; returns the number of items added."""
        async with self._lock_list(pool) as lock:
            recovered = await recover_list(self.tools, self.lists, pool, lock) if lock else None
            if recovered is None:
                return 0
            length = await self.lists.queues.length(pool.list_name)
            return await self._fill_up(pool, recovered, pool.options.size - length)

    async def settle_reported(self, pool: Pool) -> None:
        """Marks items that programs reported as used. Needs the lock: two processes would remove unread ids."""
        if not await self.lists.queues.reported_used(pool.list_name, 1):
            return
        async with self._lock_list(pool) as lock:
            while lock and await renew_list_lock(self.lists, lock):
                reported = await self.lists.queues.reported_used(pool.list_name, CHUNK_SIZE)
                if not reported:
                    return
                await settle_items_in_doubt(self.tools.db, reported, new_token("reported"), self.tools.clock())
                await self.lists.queues.forget_used(pool.list_name, len(reported))

    async def drain(self, pool: Pool) -> int:
        """Makes all items of the list available again; returns how many."""
        return await drain_list(self.tools, self.lists, pool)

    async def empty(self, pool: Pool) -> None:
        """Takes back what was queued before the pool got leases, also from a list that was lost."""
        if not await count_queued(self.tools.db, pool.key):
            return
        async with self._lock_list(pool) as lock:
            if lock:
                await recover_list(self.tools, self.lists, pool, lock)
                await self.drain(pool)

    def _lock_list(self, pool: Pool) -> AbstractAsyncContextManager[FillLock | None]:
        return lock_list(self.lists, pool, self.name)

    async def _fill_up(self, pool: Pool, lock: FillLock, need: int) -> int:
        await self._undo_unconfirmed()
        added = 0
        while added < need and await renew_list_lock(self.lists, lock):
            pushed = await self._fill_chunk(pool, lock, min(self.chunk_size, need - added))
            if not pushed:
                break
            added += pushed
        return added

    async def _fill_chunk(self, pool: Pool, lock: FillLock, most: int) -> int:
        """Pushes one chunk. If a push is not answered, its outcome is unknown and its items stay queued."""
        token = new_token(self.name)
        reserved = await self._reserve(pool, most, token)
        queued = await self._limit_push(to_queued_items(reserved, pool.options))
        if not queued:
            return 0
        if not await self.lists.queues.push(lock, queued):
            await undo_queueing(self.tools.db, token, self.tools.clock())
            return 0
        return len(queued)

    async def _reserve(self, pool: Pool, most: int, token: str) -> list[PoolItem]:
        tools, kind, options = self.tools, pool.kind, pool.options
        confirmed = False
        try:
            sources = await claim_items(tools.db, pool.key, most, PoolItemState.QUEUED, token, tools.clock())
            items = await tools.texts.items(kind, options, sources)
            confirmed = True
        finally:
            if not confirmed:
                self._unconfirmed.add(token)
        return items

    async def _undo_unconfirmed(self) -> None:
        for token in list(self._unconfirmed):
            await undo_queueing(self.tools.db, token, self.tools.clock())
            self._unconfirmed.discard(token)

    async def _limit_push(self, queued: list[QueuedItem]) -> list[QueuedItem]:
        """As many items as one push may carry; the others are released."""
        room, fitting = MAX_PUSH_BYTES, 0
        for item in queued:
            room -= len(item.text.encode())
            if room < 0 and fitting:
                break
            fitting += 1
        if left := [item.id for item in queued[fitting:]]:
            await unqueue_items(self.tools.db, left, self.tools.clock())
        return queued[:fitting]
