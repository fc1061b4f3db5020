"""Tells whether a batch still runs or was cancelled; queries the database at most a few times a second."""

import asyncio
import time
from collections.abc import Callable
from typing import NamedTuple

from feedmill.store.database import Database
from feedmill.store.jobs.batches import is_batch_running

# A cancelled batch may start jobs for this long; a thousand jobs a second need not query each.
CACHE_SECONDS = 0.2


class CachedCheck(NamedTuple):
    """A query and when it was sent; all jobs that start in the meantime share its answer."""

    at: float
    answer: asyncio.Future[bool]


class BatchRunningCheck:
    """Caches the answers of the database for a moment."""

    def __init__(self, db: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._db = db
        self._clock = clock
        self._checks: dict[int, CachedCheck] = {}

    async def is_running(self, batch_id: int) -> bool:
        """Whether the batch runs: it is neither cancelled nor finished."""
        now = self._clock()
        if batch_id not in self._checks or self._checks[batch_id].at + CACHE_SECONDS <= now:
            self._checks = {id: check for id, check in self._checks.items() if check.at + CACHE_SECONDS > now}
            self._checks[batch_id] = CachedCheck(now, asyncio.ensure_future(is_batch_running(self._db, batch_id)))
        return await asyncio.shield(self._checks[batch_id].answer)
