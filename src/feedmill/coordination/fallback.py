"""Shared host slots and locks, with a fallback in memory while Redis does not answer."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from feedmill.coordination.host_slots import HostSlotRule, HostSlots
from feedmill.coordination.locks import LOCK_LENGTH, BulkLocks
from feedmill.coordination.memory import Clock, MemoryHostSlots
from feedmill.dependency_outages import DEPENDENCY_OUTAGES, REDIS
from feedmill.errors import CoordinationUnavailable
from feedmill.i18n.messages import Message

RETRY_AFTER_SECONDS = 5.0
T = TypeVar("T")


class CoordinationCircuitBreaker:
    """Calls the shared service, unless a call failed within the last few seconds."""

    def __init__(self, clock: Clock = time.monotonic, retry_after: float = RETRY_AFTER_SECONDS) -> None:
        self._clock = clock
        self._retry_after = retry_after
        self._retry_at = 0.0
        self.last_error: tuple[datetime, Message] | None = None

    async def call_service(self, call: Callable[[], Awaitable[T]]) -> T | None:
        """The service's answer; None when it is unavailable."""
        if self._clock() < self._retry_at:
            return None
        try:
            answer = await call()
        except CoordinationUnavailable as error:
            self._retry_at = self._clock() + self._retry_after
            self.last_error = (datetime.now(UTC), error.message)
            DEPENDENCY_OUTAGES.failed("coordinate_processes", error)
            return None
        DEPENDENCY_OUTAGES.answered(REDIS)
        return answer


class FallbackHostSlots:
    """Takes slots from the shared service, and from memory while it is unavailable.

    Each slot is also recorded in memory, so that no host gets two requests in a row when the service is lost.
    """

    def __init__(
        self, shared: HostSlots, clock: Clock = time.monotonic, retry_after: float = RETRY_AFTER_SECONDS
    ) -> None:
        self._shared = shared
        self._local = MemoryHostSlots(clock)
        self._breaker = CoordinationCircuitBreaker(clock, retry_after)

    async def take(self, host: str, token: str, rule: HostSlotRule, pauses: Sequence[str] = ()) -> timedelta:
        wait = await self._breaker.call_service(lambda: self._shared.take(host, token, rule, pauses))
        if wait:
            return wait
        local_wait = await self._local.take(host, token, rule, pauses)
        return local_wait if wait is None else wait

    async def finish(self, host: str, token: str) -> None:
        await self._local.finish(host, token)
        await self._breaker.call_service(lambda: self._shared.finish(host, token))

    async def pause(self, name: str, length: timedelta) -> None:
        await self._local.pause(name, length)
        await self._breaker.call_service(lambda: self._shared.pause(name, length))

    async def paused(self, names: Sequence[str]) -> Mapping[str, timedelta]:
        local = await self._local.paused(names)
        shared = await self._breaker.call_service(lambda: self._shared.paused(names)) or {}
        return {**local, **{name: max(left, local.get(name, left)) for name, left in shared.items()}}


class FallbackBulkLocks:
    """Shared locks; none while the shared service is unavailable."""

    def __init__(
        self, shared: BulkLocks, clock: Clock = time.monotonic, retry_after: float = RETRY_AFTER_SECONDS
    ) -> None:
        self._shared = shared
        self._breaker = CoordinationCircuitBreaker(clock, retry_after)

    async def hold(self, names: Sequence[str], owner: str, length: timedelta = LOCK_LENGTH) -> None:
        await self._breaker.call_service(lambda: self._shared.hold(names, owner, length))

    async def release_all(self, names: Sequence[str], owner: str) -> None:
        await self._breaker.call_service(lambda: self._shared.release_all(names, owner))
