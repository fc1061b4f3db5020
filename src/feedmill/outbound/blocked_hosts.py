"""Refuses requests to hosts that an admin blocked."""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from feedmill.model.hosts import is_in_domains
from feedmill.outbound.errors import RefusedError
from feedmill.store.admin.blocked_hosts import BLOCKED_HOST_REASON, blocked_host_names
from feedmill.store.database import Database

# So long other processes may go on asking a host after it was blocked; feeds there rest at once.
CACHE_SECONDS = 10.0


class HostBlocklist(Protocol):
    async def refuse(self, host: str) -> None:
        """Raises `RefusedError` for a host that is blocked."""


class NoBlocklist:
    async def refuse(self, host: str) -> None:
        """Nobody has blocked anything."""


class BlockedHosts:
    """The list in the database, read again every few seconds, and before anybody is refused.

    So a feed never rests because of a block that was lifted a moment ago.
    """

    def __init__(self, db: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._db = db
        self._clock = clock
        self._names: frozenset[str] = frozenset()
        self._read_again_at = 0.0
        self._reading = asyncio.Lock()

    async def refuse(self, host: str) -> None:
        if is_in_domains(host, await self._remembered()) and is_in_domains(host, await blocked_host_names(self._db)):
            raise RefusedError("blocked", BLOCKED_HOST_REASON)

    def forget(self) -> None:
        """Has the list read anew: it was changed."""
        self._read_again_at = 0.0

    async def _remembered(self) -> frozenset[str]:
        async with self._reading:
            if (now := self._clock()) >= self._read_again_at:
                names = await blocked_host_names(self._db)
                self._names, self._read_again_at = names, now + CACHE_SECONDS
        return self._names
