"""Refuses requests to hosts that an admin blocked."""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from feedmill.model.hosts import is_in_domains
from feedmill.outbound.errors import RefusedError
from feedmill.store.admin.blocked_hosts import BLOCKED_HOST_REASON, blocked_host_names
from feedmill.store.database import Database

# For so long other processes may still send requests to a host that was blocked; its feeds are stopped at once.
CACHE_SECONDS = 10.0


class HostBlocklist(Protocol):
    async def check(self, host: str) -> None:
        """Raises `RefusedError` for a host that is blocked."""


class NoBlocklist:
    async def check(self, host: str) -> None:
        """Allows every host."""


class BlockedHosts:
    """The list in the database, cached for some seconds and read again before a request is refused.

    So no request is refused because of a block that was just removed.
    """

    def __init__(self, db: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._db = db
        self._clock = clock
        self._names: frozenset[str] = frozenset()
        self._expires_at = 0.0
        self._reading = asyncio.Lock()

    async def check(self, host: str) -> None:
        if is_in_domains(host, await self._cached_names()) and is_in_domains(host, await blocked_host_names(self._db)):
            raise RefusedError("blocked", BLOCKED_HOST_REASON)

    def forget(self) -> None:
        """Drops the cache, because the list was changed."""
        self._expires_at = 0.0

    async def _cached_names(self) -> frozenset[str]:
        async with self._reading:
            if (now := self._clock()) >= self._expires_at:
                names = await blocked_host_names(self._db)
                self._names, self._expires_at = names, now + CACHE_SECONDS
        return self._names
