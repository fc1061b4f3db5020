"""The limit on the total size of stored images."""

import time
from dataclasses import dataclass, field
from datetime import timedelta

from feedmill.lazy_loggers import get_logger
from feedmill.store.archive.image_tasks import total_image_bytes
from feedmill.store.database import Database

log = get_logger(__name__)

MEASURE_EVERY = timedelta(minutes=5)


@dataclass(slots=True)
class ImageStorageLimit:
    """Measured now and then, because others add and remove; in between we count what we add. 0 is no limit."""

    db: Database
    limit: int = 0
    _used: int = 0
    _measured: float | None = field(default=None)
    _full: bool = False

    async def has(self, size: int) -> bool:
        """Whether so many bytes more may be kept."""
        if not self.limit:
            return True
        await self._measure_if_old()
        return self._used + size <= self.limit

    def take(self, size: int) -> None:
        self._used += size

    async def is_full(self) -> bool:
        """Whether there is no room for any image; says it once when that has changed."""
        full = not await self.has(1)
        if full is not self._full:
            self._full = full
            self._say()
        return full

    async def _measure_if_old(self) -> None:
        now = time.monotonic()
        if self._measured is None or now - self._measured >= MEASURE_EVERY.total_seconds():
            self._used = await total_image_bytes(self.db)
            self._measured = now

    def _say(self) -> None:
        if self._full:
            log.warning("images wait: images_total_bytes is reached", used=self._used, limit=self.limit)
        else:
            log.info("there is room for images again", used=self._used, limit=self.limit)
