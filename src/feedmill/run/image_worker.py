"""Archives waiting images lot by lot; one worker in each process."""

import time
from dataclasses import dataclass, field
from datetime import timedelta

from feedmill.archive.images.download import ImageLotResult, ImageTools, archive_images
from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.errors import InfrastructureError
from feedmill.lazy_loggers import get_logger
from feedmill.run.storage_circuit_breaker import StorageCircuitBreaker

log = get_logger(__name__)

# A lot may take 80 s and a job 120 s; so no lot starts later than this.
TIME_BUDGET = timedelta(seconds=25)


@dataclass(slots=True)
class ImageWorker:
    """Asked while it runs, it looks once more before it ends: so a nudge may come at any time, any number of times."""

    tools: ImageTools
    breaker: StorageCircuitBreaker = field(default_factory=StorageCircuitBreaker)
    _running: bool = False
    _asked: bool = False

    async def work_off(self) -> bool:
        """Archives what waits, within the time of one job; whether there may be more."""
        if self._running:
            self._asked = True
            return False
        self._running = True
        try:
            return await self._lots()
        finally:
            self._running = False

    async def _lots(self) -> bool:
        started = time.monotonic()
        while time.monotonic() - started < TIME_BUDGET.total_seconds():
            self._asked = False
            if self.breaker.is_open(self.tools.clock()):
                return False
            tally = await self._lot()
            if not tally.taken and not self._asked:
                return False
        return True

    async def _lot(self) -> ImageLotResult:
        try:
            tally = await archive_images(self.tools)
        except InfrastructureError as error:
            tally = ImageLotResult(error=error)
        if tally.error is not None:
            self.breaker.failed(self.tools.clock(), tally.error)
            DEPENDENCY_OUTAGES.failed("archive_images", tally.error)
        elif tally.kept:
            self.breaker.worked()
            DEPENDENCY_OUTAGES.worked("archive_images")
            log.info("images archived", kept=tally.kept, failed=tally.failed)
        return tally
