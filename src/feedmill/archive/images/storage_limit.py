"""The limit on the total size of stored images."""

import time
from dataclasses import dataclass, field
from datetime import timedelta

from feedmill.lazy_loggers import get_logger
from feedmill.store.archive.archived_images import total_image_bytes
from feedmill.store.database import Database

log = get_logger(__name__)

MEASURE_EVERY = timedelta(minutes=5)


@dataclass(slots=True)
class ImageStorageLimit:
    """Limits the total size. Measured periodically, because others add and delete; our additions are counted at once.

    0 is no limit.
    """

    db: Database
    limit: int = 0
    _used: int = 0
    _measured: float | None = field(default=None)
    _full: bool = False

    async def allows(self, size: int) -> bool:
        """Whether `size` more bytes may be stored."""
        if not self.limit:
            return True
        await self._measure_if_old()
        return self._used + size <= self.limit

    def take(self, size: int) -> None:
        self._used += size

    async def is_full(self) -> bool:
        """Whether no image may be stored; logs each change once."""
        full = not await self.allows(1)
        if full is not self._full:
            self._full = full
            self._log_change()
        return full

    async def _measure_if_old(self) -> None:
        now = time.monotonic()
        if self._measured is None or now - self._measured >= MEASURE_EVERY.total_seconds():
            self._used = await total_image_bytes(self.db)
            self._measured = now

    def _log_change(self) -> None:
        if self._full:
            log.warning("image_storage_limit_reached", used_bytes=self._used, limit_bytes=self.limit)
        else:
            log.info("image_storage_available", used_bytes=self._used, limit_bytes=self.limit)
