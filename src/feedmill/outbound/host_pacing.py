"""Paces requests per host: one at a time, a gap between two, and pauses that the server asked for.

The host is the name as it is resolved (ASCII, lower case), whatever the scheme and port: they share one server.
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
# How much longer than its deadline a request may hold its turn before the turn is given to another.
SLACK = timedelta(seconds=10)


class HostBusy(Exception):
    """The turn at the host comes later than we wait for it; `wait` says when."""

    def __init__(self, wait: timedelta) -> None:
        super().__init__(wait)
        self.wait = wait


@dataclass(slots=True)
class HostQueue:
    """The requests of this process to one host: whoever holds `lock` is next, the others wait in order."""

    lock: asyncio.Lock
    length: int = 0


class Pacer:
    """Gives turns at hosts: in order within this process, and through `turns` among all processes."""

    def __init__(self, turns: HostSlots, gap: timedelta = GAP, max_wait: timedelta = MAX_WAIT) -> None:
        self._turns = turns
        self._gap = gap
        self._max_wait = max_wait
        self._queues: dict[str, HostQueue] = {}

    @asynccontextmanager
    async def turn(self, target: RequestTarget, slots: asyncio.Semaphore, hold: timedelta) -> AsyncIterator[None]:
        """Waits for a turn at the target's host and for one of `slots`; raises `HostBusy`. Waiting holds no slot."""
        async with self._queued(target.host) as deadline:
            token = uuid.uuid4().hex
            rule = HostSlotRule(self._gap, hold + SLACK)
            try:
                await self._take(target, token, rule, slots, deadline)
                try:
                    yield
                finally:
                    slots.release()
            finally:  # also after a cancelled take, which may have been granted
                await self._turns.finish(target.host, token)

    async def pause_domain(self, target: RequestTarget, length: timedelta) -> None:
        """Pauses all requests to hosts of the target's registrable domain."""
        await self._turns.pause(_domain_pause(target.host), length)

    async def pause_url(self, target: RequestTarget, length: timedelta) -> None:
        """Pauses all requests for this URL."""
        await self._turns.pause(_url_pause(target), length)

    async def _take(
        self, target: RequestTarget, token: str, rule: HostSlotRule, slots: asyncio.Semaphore, deadline: float
    ) -> None:
        """Takes the slot first and then the turn, so that the gap counts from the start of the request."""
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
            # A wait longer than a gap is a pause, and those behind us in the queue may request what is not paused.
            if wait > max(rule.gap, BUSY_WAIT) or _now() + wait.total_seconds() > deadline:
                raise HostBusy(wait)
            await asyncio.sleep(wait.total_seconds())

    @asynccontextmanager
    async def _queued(self, host: str) -> AsyncIterator[float]:
        """Waits to be next at the host; yields the time until when to wait for the turn."""
        queue = self._queues.setdefault(host, HostQueue(asyncio.Lock()))
        ahead = queue.length * self._gap
        if ahead > self._max_wait:
            raise HostBusy(ahead)
        deadline = _now() + self._max_wait.total_seconds()
        queue.length += 1
        try:
            await self._be_next(queue, deadline)
            try:
                yield deadline
            finally:
                queue.lock.release()
        finally:
            queue.length -= 1
            if not queue.length:
                self._queues.pop(host, None)

    async def _be_next(self, queue: HostQueue, deadline: float) -> None:
        try:
            async with asyncio.timeout_at(deadline):
                await queue.lock.acquire()
        except TimeoutError:
            raise HostBusy(max(self._gap, queue.length * self._gap)) from None


async def paused_hosts(turns: HostSlots, hosts: Sequence[str]) -> dict[str, timedelta]:
    """By host how much longer it is paused, of those that are."""
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
    """The part of a host name that was registered (`example.co.uk`); a public suffix is returned as it is."""
    domain: str | None = read_public_suffixes().privatesuffix(host)
    return domain or host


@cache
def read_public_suffixes() -> PublicSuffixList:
    return PublicSuffixList()
