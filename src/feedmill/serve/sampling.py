"""Answers that may cost something: asked for once for all who want them, and not too often."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Generic, TypeVar

import structlog

from feedmill.errors import InfrastructureError

T = TypeVar("T")
log = structlog.get_logger(__name__)

GOOD_FOR = timedelta(seconds=5)
# One that takes a second is asked for every hundred seconds: so all of them take a hundredth of the time at most.
SHARE = 100
# Whoever asks waits no longer than this, and gets what was known before.
PATIENCE = 5.0


class Sampled(Generic[T]):
    """The last answer to a question."""

    def __init__(self, ask: Callable[[], Awaitable[T]], good_for: timedelta = GOOD_FOR) -> None:
        self._ask, self._good_for = ask, good_for.total_seconds()
        self._last: T | None = None
        self._ask_again_at = 0.0
        self._asking: asyncio.Task[None] | None = None

    async def read(self) -> T | None:
        """The answer; None when there is none, or none yet."""
        if self._asking is None and time.monotonic() >= self._ask_again_at:
            self._asking = asyncio.create_task(self._ask_anew())
        if self._asking is not None:
            await asyncio.wait([self._asking], timeout=PATIENCE)
        return self._last

    async def _ask_anew(self) -> None:
        started = time.monotonic()
        try:
            self._last = await self._ask()
        except InfrastructureError as error:
            self._last = None
            log.warning("something could not be measured", reason=str(error))
        finally:
            ended = time.monotonic()
            self._ask_again_at = ended + max(self._good_for, (ended - started) * SHARE)
            self._asking = None
