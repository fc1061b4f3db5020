"""Sends jobs to the workers, and releases their claims if sending fails."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from secrets import token_hex

from feedmill.coordination.locks import LotLocks, schedule_lock
from feedmill.dependency_outages import DEPENDENCY_OUTAGES, REDIS
from feedmill.engine.celery_engine import CeleryEngine
from feedmill.engine.jobs import BatchComplete, Job, Priority, RefreshFeed, log_fields_of
from feedmill.engine.messages import FEEDS_PER_MESSAGE
from feedmill.errors import EngineUnavailable
from feedmill.lazy_loggers import get_logger
from feedmill.model.feed import Claim, Feed
from feedmill.run.claim_keeper import ClaimKeeper, refresh_jobs_of
from feedmill.store.database import Database
from feedmill.store.feeds.claims import release_claim_tokens
from feedmill.store.jobs.batches import release_batches

log = get_logger(__name__)


class NoClaimKeeper(ClaimKeeper):
    """Keeps nothing: whoever gets the jobs takes their claims over."""

    def jobs_for(
        self, claims: Sequence[Claim], lane_of: Callable[[Feed], str], batch_id: int | None = None
    ) -> list[RefreshFeed]:
        return refresh_jobs_of(claims, lane_of, batch_id)


@dataclass(slots=True)
class JobSender:
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
        self.backlog = await self.engine.waiting() * FEEDS_PER_MESSAGE

    async def submit(self, job: Job, priority: Priority) -> None:
        async with self._claimed_only_if_sent([job]), self._being_sent([job]):
            await self.engine.submit(job, priority)

    async def run_batch(self, jobs: Sequence[Job], callback: Job, priority: Priority) -> None:
        """A batch that can't be sent stays in the database, where `Batches.resume` finds it."""
        self.backlog += len(jobs)
        try:
            async with self._claimed_only_if_sent(jobs, callback), self._being_sent(jobs):
                await self.engine.run_batch(jobs, callback, priority)
        except EngineUnavailable as error:
            log.info("jobs_not_sent", feeds=len(jobs), reason=str(error), **log_fields_of(callback))
            if not isinstance(callback, BatchComplete):
                raise

    async def stop(self) -> list[Job]:
        return await self.engine.stop()

    @asynccontextmanager
    async def _claimed_only_if_sent(self, jobs: Sequence[Job], callback: Job | None = None) -> AsyncIterator[None]:
        """Releases the claims, and the batch that they are of, when the block fails for whatever reason.

        Some of the messages may have been sent: whoever gets one finds its claims gone, and claims what is left anew.
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
        tokens = {job.token for job in jobs if isinstance(job, RefreshFeed) and job.token}
        await release_claim_tokens(self.db, sorted(tokens))
        if isinstance(callback, BatchComplete):
            await release_batches(self.db, [callback.batch_id])

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
            await self.locks.release_all(names, owner)
