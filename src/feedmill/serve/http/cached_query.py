"""Caches the result of an expensive query: callers share one execution, at limited frequency."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Generic, TypeVar

from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.errors import InfrastructureError

T = TypeVar("T")

MAX_AGE = timedelta(seconds=5)
# One that takes a second is asked for every hundred seconds: so all of them take a hundredth of the time at most.
PAUSE_FACTOR = 100
# Whoever asks waits no longer than this, and gets what was known before.
MAX_WAIT_SECONDS = 5.0


class CachedQuery(Generic[T]):
    """The last answer to a question."""

    def __init__(
        self,
        ask: Callable[[], Awaitable[T]],
        good_for: timedelta = MAX_AGE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask, self._good_for, self._clock = ask, good_for.total_seconds(), clock
        self._name = f"measure{getattr(ask, '__name__', '')}"
        self._last: T | None = None
        self._ask_again_at = 0.0
        self._asking: asyncio.Task[None] | None = None

    async def read(self) -> T | None:
        """The answer; None when there is none, or none yet."""
        if self._asking is None and self._clock() >= self._ask_again_at:
            self._asking = asyncio.create_task(self._ask_anew())
        if self._asking is not None:
            await asyncio.wait([self._asking], timeout=MAX_WAIT_SECONDS)
        return self._last

    async def _ask_anew(self) -> None:
        started = self._clock()
        try:
            self._last = await self._ask()
            DEPENDENCY_OUTAGES.worked(self._name)
        except InfrastructureError as error:
            self._last = None
            DEPENDENCY_OUTAGES.failed(self._name, error)
        finally:
            ended = self._clock()
            self._ask_again_at = ended + max(self._good_for, (ended - started) * PAUSE_FACTOR)
            self._asking = None
