"""Shared host slots and locks, with a fallback in memory while Redis does not answer."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from feedmill.coordination.host_slots import HostSlotRule, HostSlots
from feedmill.coordination.locks import LOCK_LENGTH, LotLocks
from feedmill.coordination.memory import Clock, MemoryHostSlots
from feedmill.dependency_outages import DEPENDENCY_OUTAGES, REDIS
from feedmill.errors import CoordinationUnavailable

RETRY_AFTER_SECONDS = 5.0
T = TypeVar("T")


class CoordinationCircuitBreaker:
    """Whether to ask the shared side: after a failure it is left alone for a few seconds."""

    def __init__(self, clock: Clock = time.monotonic, rest: float = RETRY_AFTER_SECONDS) -> None:
        self._clock = clock
        self._rest = rest
        self._ask_again_at = 0.0
        self.last_error: tuple[datetime, str] | None = None

    async def ask(self, question: Callable[[], Awaitable[T]]) -> T | None:
        """The shared side's answer; None when it has none."""
        if self._clock() < self._ask_again_at:
            return None
        try:
            answer = await question()
        except CoordinationUnavailable as error:
            self._ask_again_at = self._clock() + self._rest
            self.last_error = (datetime.now(UTC), str(error))
            DEPENDENCY_OUTAGES.failed("coordinate_processes", error)
            return None
        DEPENDENCY_OUTAGES.answered(REDIS)
        return answer


class FallbackHostSlots:
    """Paces with everybody, and by itself when the shared side is away.

    Each turn is noted in memory too, so that losing the shared side lets nobody ask twice in a row.
    """

    def __init__(self, shared: HostSlots, clock: Clock = time.monotonic, rest: float = RETRY_AFTER_SECONDS) -> None:
        self._shared = shared
        self._local = MemoryHostSlots(clock)
        self._health = CoordinationCircuitBreaker(clock, rest)

    async def take(self, host: str, token: str, rule: HostSlotRule, pauses: Sequence[str] = ()) -> timedelta:
        wait = await self._health.ask(lambda: self._shared.take(host, token, rule, pauses))
        if wait:
            return wait
        local_wait = await self._local.take(host, token, rule, pauses)
        return local_wait if wait is None else wait

    async def finish(self, host: str, token: str) -> None:
        await self._local.finish(host, token)
        await self._health.ask(lambda: self._shared.finish(host, token))

    async def pause(self, name: str, length: timedelta) -> None:
        await self._local.pause(name, length)
        await self._health.ask(lambda: self._shared.pause(name, length))

    async def paused(self, names: Sequence[str]) -> Mapping[str, timedelta]:
        local = await self._local.paused(names)
        shared = await self._health.ask(lambda: self._shared.paused(names)) or {}
        return {**local, **{name: max(left, local.get(name, left)) for name, left in shared.items()}}


class FallbackLotLocks:
    """Locks that others see, as long as there is a place where they could."""

    def __init__(self, shared: LotLocks, clock: Clock = time.monotonic, rest: float = RETRY_AFTER_SECONDS) -> None:
        self._shared = shared
        self._health = CoordinationCircuitBreaker(clock, rest)

    async def hold(self, names: Sequence[str], owner: str, length: timedelta = LOCK_LENGTH) -> None:
        await self._health.ask(lambda: self._shared.hold(names, owner, length))

    async def let_go(self, names: Sequence[str], owner: str) -> None:
        await self._health.ask(lambda: self._shared.let_go(names, owner))
