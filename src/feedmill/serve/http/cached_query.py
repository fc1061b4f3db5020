"""Caches the result of an expensive query: callers share one execution, and its frequency is limited."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Generic, TypeVar

from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.errors import InfrastructureError

T = TypeVar("T")

MAX_AGE = timedelta(seconds=5)
# A query takes about a hundredth of the time, so one of 0.1 s runs every ten seconds. A result is not reused for longer
# than half a minute because of that, unless the query would then take more than a tenth of the time.
PAUSE_FACTOR = 100
LONG_PAUSE_SECONDS = 30.0
LEAST_PAUSE_FACTOR = 10
# A caller waits no longer than this, and then gets the previous result.
MAX_WAIT_SECONDS = 5.0


class CachedQuery(Generic[T]):
    """A query with its last result."""

    def __init__(
        self,
        query: Callable[[], Awaitable[T]],
        max_age: timedelta = MAX_AGE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._query, self._max_age, self._clock = query, max_age.total_seconds(), clock
        self._name = f"measure{getattr(query, '__name__', '')}"
        self._result: T | None = None
        self._next_run_at = 0.0
        self._running: asyncio.Task[None] | None = None

    @property
    def last(self) -> T | None:
        """The last result, however old, without waiting."""
        return self._result

    async def read(self) -> T | None:
        """The result; None if the query failed, or has no result yet."""
        if self._running is None and self._clock() >= self._next_run_at:
            self._running = asyncio.create_task(self._run())
        if self._running is not None:
            await asyncio.wait([self._running], timeout=MAX_WAIT_SECONDS)
        return self._result

    async def _run(self) -> None:
        started = self._clock()
        try:
            self._result = await self._query()
            DEPENDENCY_OUTAGES.worked(self._name)
        except InfrastructureError as error:
            self._result = None
            DEPENDENCY_OUTAGES.failed(self._name, error)
        finally:
            ended = self._clock()
            self._next_run_at = ended + max(self._max_age, _pause(ended - started))
            self._running = None


def _pause(seconds: float) -> float:
    """How long a query that took so long is not run again."""
    return min(seconds * PAUSE_FACTOR, max(LONG_PAUSE_SECONDS, seconds * LEAST_PAUSE_FACTOR))
