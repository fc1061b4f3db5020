"""Whether a batch still runs or was cancelled; asks the database a few times a second."""

import asyncio
import time
from collections.abc import Callable
from typing import NamedTuple

from feedmill.store.database import Database
from feedmill.store.jobs.batches import is_batch_running

# A cancelled batch may begin jobs for so long; a thousand jobs a second need not each ask.
CACHE_SECONDS = 0.2


class CachedCheck(NamedTuple):
    """A question to the database and when it was asked; all jobs that begin meanwhile wait for the same answer."""

    at: float
    answer: asyncio.Future[bool]


class BatchCancellation:
    """Asks a few times a second, however many jobs begin."""

    def __init__(self, db: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._db = db
        self._clock = clock
        self._looks: dict[int, CachedCheck] = {}

    async def by(self, batch_id: int) -> bool:
        """Whether the batch runs: it was not cancelled, and it is not over."""
        now = self._clock()
        if batch_id not in self._looks or self._looks[batch_id].at + CACHE_SECONDS <= now:
            self._looks = {id: look for id, look in self._looks.items() if look.at + CACHE_SECONDS > now}
            self._looks[batch_id] = CachedCheck(now, asyncio.ensure_future(is_batch_running(self._db, batch_id)))
        return await asyncio.shield(self._looks[batch_id].answer)
