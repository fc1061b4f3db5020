"""Sends jobs to the workers, so that nothing stays claimed for jobs that nobody has."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from secrets import token_hex

import structlog

from feedmill.coordination.locks import LotLocks, schedule_lock
from feedmill.engine.celery import CeleryEngine
from feedmill.engine.jobs import BatchComplete, Job, Priority, RefreshFeed
from feedmill.engine.messages import LOT
from feedmill.errors import EngineUnavailable
from feedmill.model.feed import Claim, Feed
from feedmill.run.keeper import ClaimKeeper, jobs_of
from feedmill.store.batches import leave_batches
from feedmill.store.claims import let_go
from feedmill.store.database import Database

log = structlog.get_logger(__name__)


class PassedOn(ClaimKeeper):
    """Keeps nothing: whoever gets the jobs takes their claims over."""

    def jobs_for(
        self, claims: Sequence[Claim], lane_of: Callable[[Feed], str], batch_id: int | None = None
    ) -> list[RefreshFeed]:
        return jobs_of(claims, lane_of, batch_id)


@dataclass(slots=True)
class Sender:
    """An engine that sends. `backlog` is how many feeds wait to be taken by a worker, as of the last look."""

    db: Database
    engine: CeleryEngine
    locks: LotLocks
    backlog: int = 0

    def in_lane(self, lane: str) -> int:
        """Unknown here: workers take turns at a host through Redis."""
        return 0

    def waits(self) -> Mapping[str, int]:
        return self.engine.waits()

    async def look(self) -> None:
        """Brings `backlog` up to date."""
        self.backlog = await self.engine.waiting() * LOT

    async def submit(self, job: Job, priority: Priority) -> None:
        async with self._being_sent([job]):
            await self.engine.submit(job, priority)

    async def run_batch(self, jobs: Sequence[Job], callback: Job, priority: Priority) -> None:
        """A batch that can't be sent stands in the database, to be taken up as soon as it can."""
        self.backlog += len(jobs)
        try:
            async with self._being_sent(jobs):
                await self.engine.run_batch(jobs, callback, priority)
        except EngineUnavailable as error:
            log.warning("jobs could not be sent; their feeds stay due", jobs=len(jobs), reason=str(error))
            await self._take_back(jobs)
            if not isinstance(callback, BatchComplete):
                raise
            await leave_batches(self.db, [callback.batch_id])

    async def stop(self) -> list[Job]:
        return await self.engine.stop()

    async def _take_back(self, jobs: Sequence[Job]) -> None:
        tokens = {job.token for job in jobs if isinstance(job, RefreshFeed) and job.token}
        await let_go(self.db, sorted(tokens))

    @asynccontextmanager
    async def _being_sent(self, jobs: Sequence[Job]) -> AsyncIterator[None]:
        """Lets other programs see that these feeds are being put on a queue."""
        names = [schedule_lock(job.feed_id) for job in jobs if isinstance(job, RefreshFeed)]
        if not names:
            yield
            return
        owner = token_hex(16)
        await self.locks.hold(names, owner)
        try:
            yield
        finally:
            await self.locks.let_go(names, owner)
