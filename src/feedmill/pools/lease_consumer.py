"""An async iterator over leased items; an item is acknowledged when the next one is taken."""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from feedmill.errors import DatabaseError
from feedmill.lazy_loggers import get_logger
from feedmill.model.pool import PoolItem
from feedmill.pools.held_item import HeldItem, ids_by_token
from feedmill.pools.lease_items import lease_items
from feedmill.pools.pool import Pool
from feedmill.pools.pool_tools import PoolTools
from feedmill.store.pools.items import ack_items, extend_items, give_back_items, nack_items

log = get_logger(__name__)

ITEMS_AHEAD = 20
EMPTY_WAIT = 1.0


class LeaseConsumer:
    """Hands items out at least once. Extends leases during the block; an exception returns the last item."""

    def __init__(
        self, tools: PoolTools, pool: Pool, who: str = "", *, wait: bool = True, ahead: int = ITEMS_AHEAD
    ) -> None:
        self._tools = tools
        self._pool = pool
        self._who = who
        self._wait = wait
        self._ahead = ahead
        self._ready: deque[HeldItem] = deque()
        self._handed: list[HeldItem] = []
        self._done: list[HeldItem] = []

    async def __aenter__(self) -> Self:
        self._extending = asyncio.create_task(self._keep_extending())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._extending.cancel()
        with suppress(asyncio.CancelledError):
            await self._extending
        if error is None:
            self._done += self._handed
        else:
            await self._nack(self._handed)
        await self._acknowledge()
        await self._give_back()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> PoolItem:
        items = await self.take(1)
        while not items:
            if not self._wait:
                raise StopAsyncIteration
            await asyncio.sleep(EMPTY_WAIT)
            items = await self.take(1)
        return items[0]

    async def take(self, most: int) -> list[PoolItem]:
        """Returns up to `most` items; those of the previous call are acknowledged."""
        self._done, self._handed = self._done + self._handed, []
        if len(self._done) >= self._ahead:
            await self._acknowledge()
        if len(self._ready) < most:
            await self._acknowledge()
            await self._fetch(max(most, self._ahead) - len(self._ready))
        self._handed = [self._ready.popleft() for _ in range(min(most, len(self._ready)))]
        return [held.item for held in self._handed]

    async def _fetch(self, most: int) -> None:
        leased = await lease_items(self._tools, self._pool, most, self._who)
        self._ready += [HeldItem(item, leased.token) for item in leased.items]

    async def _acknowledge(self) -> None:
        for token, ids in ids_by_token(self._done):
            late = len(ids) - await ack_items(self._tools.db, self._pool.key, ids, token, self._tools.clock())
            if late:
                log.warning("pool_leases_expired", items=late)
        self._done = []

    async def _nack(self, held: Sequence[HeldItem]) -> None:
        most = self._pool.options.most_attempts
        for token, ids in ids_by_token(held):
            await nack_items(self._tools.db, self._pool.key, ids, token, most, self._tools.clock())

    async def _give_back(self) -> None:
        for token, ids in ids_by_token(self._ready):
            await give_back_items(self._tools.db, self._pool.key, ids, token, self._tools.clock())
        self._ready.clear()

    async def _keep_extending(self) -> None:
        lease = self._pool.options.lease
        while True:
            await asyncio.sleep(lease.total_seconds() / 3)
            try:
                for token, ids in ids_by_token([*self._done, *self._handed, *self._ready]):
                    await extend_items(self._tools.db, self._pool.key, ids, token, self._tools.clock() + lease)
            except DatabaseError as error:
                log.warning("pool_leases_not_extended", reason=str(error))
