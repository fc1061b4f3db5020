"""Host slots, locks and presence in the memory of one process."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from feedmill.coordination.host_slots import BUSY_WAIT, NO_WAIT, HostSlotRule
from feedmill.coordination.locks import LOCK_LENGTH
from feedmill.coordination.presence import RunningProcess

Clock = Callable[[], float]
CLEAN_UP_EVERY = 1000


@dataclass(slots=True)
class HostSlotState:
    next_at: float = 0.0
    token: str | None = None
    held_until: float = 0.0


class MemoryHostSlots:
    """Host slots within this process."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._hosts: dict[str, HostSlotState] = {}
        self._pauses: dict[str, float] = {}
        self._takes = 0

    async def take(self, host: str, token: str, rule: HostSlotRule, pauses: Sequence[str] = ()) -> timedelta:
        now = self._clock()
        self._clean_up(now)
        state = self._hosts.setdefault(host, HostSlotState())
        free_at = max(state.next_at, *(self._pauses.get(name, 0.0) for name in pauses), 0.0)
        if free_at > now:
            return timedelta(seconds=free_at - now)
        if state.token is not None and state.held_until > now:
            return BUSY_WAIT
        state.next_at = now + rule.gap.total_seconds()
        state.token = token
        state.held_until = now + rule.hold.total_seconds()
        return NO_WAIT

    async def finish(self, host: str, token: str) -> None:
        state = self._hosts.get(host)
        if state is not None and state.token == token:
            state.token = None

    async def pause(self, name: str, length: timedelta) -> None:
        until = self._clock() + length.total_seconds()
        self._pauses[name] = max(until, self._pauses.get(name, 0.0))

    async def paused(self, names: Sequence[str]) -> Mapping[str, timedelta]:
        now = self._clock()
        left = {name: self._pauses.get(name, 0.0) - now for name in names}
        return {name: timedelta(seconds=seconds) for name, seconds in left.items() if seconds > 0}

    def _clean_up(self, now: float) -> None:
        """Removes expired hosts and pauses, every thousand calls."""
        self._takes += 1
        if self._takes % CLEAN_UP_EVERY:
            return
        self._pauses = {name: until for name, until in self._pauses.items() if until > now}
        self._hosts = {host: state for host, state in self._hosts.items() if _is_in_use(state, now)}


def _is_in_use(state: HostSlotState, now: float) -> bool:
    return state.next_at > now or (state.token is not None and state.held_until > now)


class MemoryLocks:
    """Locks within this process."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._held: dict[str, tuple[str, float]] = {}

    async def lock(self, name: str, owner: str, length: timedelta = LOCK_LENGTH) -> bool:
        if await self.holder(name) is not None:
            return False
        self._held[name] = (owner, self._clock() + length.total_seconds())
        return True

    async def renew(self, name: str, owner: str, length: timedelta = LOCK_LENGTH) -> bool:
        if await self.holder(name) != owner:
            return False
        self._held[name] = (owner, self._clock() + length.total_seconds())
        return True

    async def release(self, name: str, owner: str) -> bool:
        if await self.holder(name) != owner:
            return False
        del self._held[name]
        return True

    async def hold(self, names: Sequence[str], owner: str, length: timedelta = LOCK_LENGTH) -> None:
        for name in names:
            await self.lock(name, owner, length) or await self.renew(name, owner, length)

    async def release_all(self, names: Sequence[str], owner: str) -> None:
        for name in names:
            await self.release(name, owner)

    async def holder(self, name: str) -> str | None:
        owner, until = self._held.get(name, (None, 0.0))
        if owner is not None and until <= self._clock():
            del self._held[name]
            return None
        return owner


class NoPresence:
    """Presence for an installation of one process."""

    async def announce(self, role: str, name: str) -> None:
        """Does nothing."""

    async def withdraw(self, role: str, name: str) -> None:
        """Does nothing."""

    async def count_by_role(self) -> Mapping[str, int]:
        return {}

    async def processes(self) -> Sequence[RunningProcess]:
        return []


async def count_no_messages(queues: Sequence[str]) -> Mapping[str, int]:
    """Message counts for an installation without queues."""
    return {}
