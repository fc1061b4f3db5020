"""Archives waiting images chunk by chunk; one worker in each process."""

import time
from dataclasses import dataclass, field
from datetime import timedelta

from feedmill.archive.images.download import ImageChunkResult, ImageTools, archive_images
from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.errors import InfrastructureError
from feedmill.lazy_loggers import get_logger
from feedmill.run.storage_circuit_breaker import StorageCircuitBreaker

log = get_logger(__name__)

# A chunk may take 80 s and a job 120 s; so no chunk starts later than this.
TIME_BUDGET = timedelta(seconds=25)


@dataclass(slots=True)
class ImageWorker:
    """Archives images. A call while it runs makes it look once more before it ends, so calls may come at any time."""

    tools: ImageTools
    breaker: StorageCircuitBreaker = field(default_factory=StorageCircuitBreaker)
    _running: bool = False
    _look_again: bool = False

    async def archive_waiting(self) -> bool:
        """Archives waiting images within the time of one job; returns whether more may wait."""
        if self._running:
            self._look_again = True
            return False
        self._running = True
        try:
            return await self._archive_chunks()
        finally:
            self._running = False

    async def _archive_chunks(self) -> bool:
        started = time.monotonic()
        while time.monotonic() - started < TIME_BUDGET.total_seconds():
            self._look_again = False
            if self.breaker.is_open(self.tools.clock()):
                return False
            result = await self._archive_chunk()
            if not result.taken and not self._look_again:
                return False
        return True

    async def _archive_chunk(self) -> ImageChunkResult:
        try:
            result = await archive_images(self.tools)
        except InfrastructureError as error:
            result = ImageChunkResult(error=error)
        if result.error is not None:
            self.breaker.failed(self.tools.clock(), result.error)
            DEPENDENCY_OUTAGES.failed("archive_images", result.error)
        elif result.kept:
            self.breaker.worked()
            DEPENDENCY_OUTAGES.worked("archive_images")
            log.info("images_archived", stored=result.kept, failed=result.failed)
        return result
