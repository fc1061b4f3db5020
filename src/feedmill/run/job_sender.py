"""Sends jobs to the workers, and releases their claims if sending fails."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from secrets import token_hex

from feedmill.coordination.locks import BulkLocks, schedule_lock
from feedmill.dependency_outages import DEPENDENCY_OUTAGES, REDIS
from feedmill.engine.celery_engine import CeleryEngine
from feedmill.engine.jobs import BatchComplete, Job, Priority, RefreshFeed, log_fields_of
from feedmill.engine.messages import FEEDS_PER_MESSAGE
from feedmill.errors import EngineUnavailable
from feedmill.lazy_loggers import get_logger
from feedmill.model.feed import Claim, Feed
from feedmill.run.held_claims import HeldClaims, refresh_jobs_of
from feedmill.store.database import Database
from feedmill.store.feeds.claims import release_claimed_feeds
from feedmill.store.jobs.batches import release_batches

log = get_logger(__name__)


class NoHeldClaims(HeldClaims):
    """Holds no claims: the workers that get the jobs take the claims over."""

    def jobs_for(
        self, claims: Sequence[Claim], lane_of: Callable[[Feed], str], batch_id: int | None = None
    ) -> list[RefreshFeed]:
        return refresh_jobs_of(claims, lane_of, batch_id)


@dataclass(slots=True)
class JobSender:
    """An engine that sends jobs. `backlog` is how many feeds wait for a worker, as of the last `update_backlog`."""

    db: Database
    engine: CeleryEngine
    locks: BulkLocks
    backlog: int = 0

    def in_lane(self, lane: str) -> int:
        """Always 0, because it is unknown here: workers take host slots through Redis."""
        return 0

    def waits(self) -> Mapping[str, int]:
        return self.engine.waits()

    async def update_backlog(self) -> None:
        """Reads the length of the queue."""
        self.backlog = await self.engine.waiting() * FEEDS_PER_MESSAGE

    async def submit(self, job: Job, priority: Priority) -> None:
        async with self._release_claims_on_failure([job]), self._schedule_locks([job]):
            await self.engine.submit(job, priority)

    async def run_batch(self, jobs: Sequence[Job], callback: Job, priority: Priority) -> None:
        """A batch that can't be sent stays in the database, where `Batches.resume` finds it."""
        self.backlog += len(jobs)
        try:
            async with self._release_claims_on_failure(jobs, callback), self._schedule_locks(jobs):
                await self.engine.run_batch(jobs, callback, priority)
        except EngineUnavailable as error:
            log.info("jobs_not_sent", feeds=len(jobs), reason=str(error), **log_fields_of(callback))
            if not isinstance(callback, BatchComplete):
                raise

    async def stop(self) -> list[Job]:
        return await self.engine.stop()

    @asynccontextmanager
    async def _release_claims_on_failure(self, jobs: Sequence[Job], callback: Job | None = None) -> AsyncIterator[None]:
        """Releases the claims, and their batch, when the block fails for any reason.

        Some messages may have been sent: the worker that gets one finds the claims gone, and claims the feeds again.
        """
        try:
            yield
            DEPENDENCY_OUTAGES.answered(REDIS)
        except EngineUnavailable as error:
            DEPENDENCY_OUTAGES.failed("send_jobs", error)
            await self._release(jobs, callback)
            raise
        except BaseException:
            await asyncio.shield(self._release(jobs, callback))
            raise

    async def _release(self, jobs: Sequence[Job], callback: Job | None) -> None:
        claimed: dict[str, list[int]] = {}
        for job in jobs:
            if isinstance(job, RefreshFeed) and job.token:
                claimed.setdefault(job.token, []).append(job.feed_id)
        await release_claimed_feeds(self.db, claimed)
        if isinstance(callback, BatchComplete):
            await release_batches(self.db, [callback.batch_id])

    @asynccontextmanager
    async def _schedule_locks(self, jobs: Sequence[Job]) -> AsyncIterator[None]:
        """Shows other programs that these feeds are being put on a queue."""
        names = [schedule_lock(job.feed_id) for job in jobs if isinstance(job, RefreshFeed)]
        if not names:
            yield
            return
        owner = token_hex(16)
        await self.locks.hold(names, owner)
        try:
            yield
        finally:
            await self.locks.release_all(names, owner)
