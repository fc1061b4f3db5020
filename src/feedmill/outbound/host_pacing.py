"""Paces requests per host: one at a time, a gap between two, and pauses that the server asked for.

The host is the name as it is looked up (ASCII, lower case), whatever the scheme and port: it is one machine's
owner that we are polite to.
"""

import asyncio
import hashlib
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, lru_cache

from publicsuffixlist import PublicSuffixList

from feedmill.coordination.host_slots import BUSY_WAIT, HostSlotRule, HostSlots
from feedmill.outbound.urls import RequestTarget, is_ip_address

GAP = timedelta(seconds=1)
MAX_WAIT = timedelta(seconds=30)
# How much longer than its deadline a request may hold its turn before somebody else gets it.
SLACK = timedelta(seconds=10)


class HostBusy(Exception):
    """The turn is farther away than we wait; `wait` says how far."""

    def __init__(self, wait: timedelta) -> None:
        super().__init__(wait)
        self.wait = wait


@dataclass(slots=True)
class HostQueue:
    """Those of this process who want to ask one host: one at its door, the others behind it in order."""

    door: asyncio.Lock
    length: int = 0


class Pacer:
    """Gives turns at hosts, to this process in order and together with the others through `turns`."""

    def __init__(self, turns: HostSlots, gap: timedelta = GAP, patience: timedelta = MAX_WAIT) -> None:
        self._turns = turns
        self._gap = gap
        self._patience = patience
        self._lines: dict[str, HostQueue] = {}

    @asynccontextmanager
    async def turn(self, target: RequestTarget, slots: asyncio.Semaphore, hold: timedelta) -> AsyncIterator[None]:
        """A turn at the target's host and one of `slots`, or `HostBusy`. No slot is held while waiting."""
        async with self._in_line(target.host) as deadline:
            token = uuid.uuid4().hex
            rule = HostSlotRule(self._gap, hold + SLACK)
            try:
                await self._take(target, token, rule, slots, deadline)
                try:
                    yield
                finally:
                    slots.release()
            finally:  # also after a cancelled take, which may have been granted without our knowing
                await self._turns.finish(target.host, token)

    async def pause_domain(self, target: RequestTarget, length: timedelta) -> None:
        """Nobody asks any host of the target's registrable domain for that long."""
        await self._turns.pause(_domain_pause(target.host), length)

    async def pause_url(self, target: RequestTarget, length: timedelta) -> None:
        """Nobody asks for this very URL for that long."""
        await self._turns.pause(_url_pause(target), length)

    async def _take(
        self, target: RequestTarget, token: str, rule: HostSlotRule, slots: asyncio.Semaphore, deadline: float
    ) -> None:
        """Comes back with the turn and a slot; the slot first, so that the gap counts from the real start."""
        pauses = (_domain_pause(target.host), _url_pause(target))
        while True:
            await slots.acquire()
            granted = False
            try:
                wait = await self._turns.take(target.host, token, rule, pauses)
                granted = not wait
            finally:
                if not granted:
                    slots.release()
            if granted:
                return
            # Longer than a gap is a pause, and those behind us in line may want something that is not paused.
            if wait > max(rule.gap, BUSY_WAIT) or _now() + wait.total_seconds() > deadline:
                raise HostBusy(wait)
            await asyncio.sleep(wait.total_seconds())

    @asynccontextmanager
    async def _in_line(self, host: str) -> AsyncIterator[float]:
        """The place at the host's door, and until when to wait there."""
        line = self._lines.setdefault(host, HostQueue(asyncio.Lock()))
        ahead = line.length * self._gap
        if ahead > self._patience:
            raise HostBusy(ahead)
        deadline = _now() + self._patience.total_seconds()
        line.length += 1
        try:
            await self._reach_door(line, deadline)
            try:
                yield deadline
            finally:
                line.door.release()
        finally:
            line.length -= 1
            if not line.length:
                self._lines.pop(host, None)

    async def _reach_door(self, line: HostQueue, deadline: float) -> None:
        try:
            async with asyncio.timeout_at(deadline):
                await line.door.acquire()
        except TimeoutError:
            raise HostBusy(max(self._gap, line.length * self._gap)) from None


async def paused_hosts(turns: HostSlots, hosts: Sequence[str]) -> dict[str, timedelta]:
    """Those of these hosts whose servers want us to stay away, and for how much longer."""
    names = {host: _domain_pause(host) for host in hosts}
    left = await turns.paused(sorted(set(names.values())))
    return {host: left[name] for host, name in names.items() if name in left}


def _now() -> float:
    return asyncio.get_running_loop().time()


def _url_pause(target: RequestTarget) -> str:
    return f"url:{hashlib.sha256(target.url.encode()).hexdigest()[:32]}"


def _domain_pause(host: str) -> str:
    return f"domain:{host if is_ip_address(host) else registrable_domain(host)}"


@lru_cache(maxsize=4096)
def registrable_domain(host: str) -> str:
    """The part of a host name that somebody registered; the name itself when it is all public suffix."""
    domain: str | None = read_public_suffixes().privatesuffix(host)
    return domain or host


@cache
def read_public_suffixes() -> PublicSuffixList:
    return PublicSuffixList()
