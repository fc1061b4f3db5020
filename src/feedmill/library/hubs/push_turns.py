"""Lets few bodies of pushes be read at once, and one of each subscription.

A feed names its hub, so a hub is a stranger: without turns it could fill the memory with many large pushes at once, or
keep those of other hubs waiting with slow ones.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

AT_ONCE = 4


class PushTurns:
    """The turns of one process."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._all = asyncio.Semaphore(at_once)
        self._of_subscription: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, subscription_id: int) -> AsyncIterator[None]:
        """Waits for a turn, and holds it during the block."""
        lock = self._of_subscription.setdefault(subscription_id, asyncio.Lock())
        async with lock, self._all:
            yield
