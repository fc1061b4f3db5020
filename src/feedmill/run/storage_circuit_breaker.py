"""A circuit breaker for our own storage: pauses refreshes while the database or object store fails."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from feedmill.errors import BlobError, InfrastructureError

FIRST_PAUSE = timedelta(seconds=30)
MAX_PAUSE = timedelta(minutes=10)


class StorageCircuitBreaker:
    """Closed while storage works; each failure after a pause doubles the next pause.

    Until storage works again, one job at a time may try it: any job when the pause is over, and without a pause a job
    that a person requested since the last failure. The others wait for its outcome.
    """

    def __init__(self) -> None:
        self._failures = 0
        self._pause: tuple[datetime, datetime] | None = None
        self._needs_body = False
        self._probe: asyncio.Future[None] | None = None
        self._failed_at: datetime | None = None

    @property
    def is_closed(self) -> bool:
        """Whether storage works, as far as is known."""
        return self._pause is None

    def worked(self, kept_body: bool = True) -> None:
        """Records that a refresh was stored. Without a new body it proves nothing about the object store."""
        if self._needs_body and not kept_body:
            return
        self._failures = 0
        self._pause = self._failed_at = None
        self._needs_body = False

    def failed(self, now: datetime, error: InfrastructureError | None = None) -> None:
        self._failed_at = now
        self._needs_body = isinstance(error, BlobError)
        if self.is_open(now):
            return
        self._pause = now, now + min(FIRST_PAUSE * 2**self._failures, MAX_PAUSE)
        self._failures = min(self._failures + 1, 20)

    def is_open(self, now: datetime) -> bool:
        """Whether no new work should be started. A clock that was set back ends the pause."""
        return self._pause is not None and self._pause[0] <= now < self._pause[1]

    def retry_at(self, now: datetime, least: timedelta) -> datetime:
        """When to retry: after the pause, and at the earliest after `least`."""
        return max(now + least, self._pause[1]) if self._pause is not None and self.is_open(now) else now + least

    @asynccontextmanager
    async def attempt(self, now: datetime, requested_at: datetime | None) -> AsyncIterator[bool]:
        """Yields whether the job may start; while storage fails, it is the only one that tries during the block.

        `requested_at` is when a person requested it; None for a scheduled job.
        """
        if not await self._may_try(now, requested_at):
            yield False
            return
        if self.is_closed:
            yield True
            return
        self._probe = probe = asyncio.get_running_loop().create_future()
        try:
            yield True
        finally:
            self._probe = None
            probe.set_result(None)

    async def _may_try(self, now: datetime, requested_at: datetime | None) -> bool:
        while self._probe is not None:
            failed_before = self._failed_at
            await asyncio.shield(self._probe)
            if self._failed_at is not None and self._failed_at != failed_before:
                return False
        if self.is_closed or not self.is_open(now):
            return True
        return requested_at is not None and (self._failed_at is None or requested_at > self._failed_at)
