"""Works off the images that wait: lot after lot, one worker in each process."""

import time
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from feedmill.archive.images import ImageTools, Tally, archive_images
from feedmill.errors import InfrastructureError
from feedmill.run.breaker import Breaker

log = structlog.get_logger(__name__)

# A lot may take 80 s and a job 120 s; so no lot starts later than this.
BUDGET = timedelta(seconds=25)


@dataclass(slots=True)
class ImageWork:
    """Asked while it runs, it looks once more before it ends: so a nudge may come at any time, any number of times."""

    tools: ImageTools
    breaker: Breaker = field(default_factory=Breaker)
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
        while time.monotonic() - started < BUDGET.total_seconds():
            self._asked = False
            if self.breaker.is_open(self.tools.clock()):
                return False
            tally = await self._lot()
            if not tally.taken and not self._asked:
                return False
        return True

    async def _lot(self) -> Tally:
        try:
            tally = await archive_images(self.tools)
        except InfrastructureError as error:
            tally = Tally(error=error)
        if tally.error is not None:
            self.breaker.failed(self.tools.clock())
            log.error("images wait because of our own storage", reason=str(tally.error), kept=tally.kept)
        elif tally.kept:
            self.breaker.worked()
            log.info("images archived", kept=tally.kept, failed=tally.failed)
        return tally
