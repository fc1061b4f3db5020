"""Marks of use, written in lots: none is forgotten without saying so."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import structlog

from feedmill.errors import DatabaseError
from feedmill.pools.tools import Unsettled, token_for
from feedmill.store.database import Database
from feedmill.store.pools import settle_items

log = structlog.get_logger(__name__)

LOT = 500
EVERY = 1.0
PATIENCE = 10.0


class Settler:
    """Collects the ids of items that were handed out and marks them as used."""

    def __init__(
        self,
        db: Database,
        who: str,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        patience: float = PATIENCE,
    ) -> None:
        self._db = db
        self._token = token_for(who)
        self._clock = clock
        self._patience = patience
        self._waiting: list[int] = []
        self._flushing = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, ids: Iterable[int]) -> None:
        self._waiting.extend(ids)

    async def flush(self) -> bool:
        """Writes what waits; False when the database did not take it, and then it waits on."""
        async with self._flushing:
            while lot := self._waiting[:LOT]:
                try:
                    await settle_items(self._db, lot, self._token, self._clock())
                except DatabaseError as error:
                    log.warning("marks of use wait for the database", items=len(self._waiting), reason=str(error))
                    return False
                del self._waiting[: len(lot)]
        return True

    async def keep_flushing(self) -> None:
        """Writes what waits, each second; cancel it to stop."""
        while True:
            await asyncio.sleep(EVERY)
            await self.flush()

    async def close(self) -> None:
        """Writes what waits, with some patience; raises `Unsettled` with what could not be written."""
        deadline = asyncio.get_running_loop().time() + self._patience
        while not await self.flush():
            if asyncio.get_running_loop().time() >= deadline:
                left, self._waiting = self._waiting, []
                log.error("items were handed out and could not be marked as used", ids=left)
                raise Unsettled(left)
            await asyncio.sleep(min(0.2, self._patience))
