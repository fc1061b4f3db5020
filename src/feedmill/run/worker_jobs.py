"""Runs the jobs of one message in a worker: takes over their claims, runs them, returns the result."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from feedmill.coordination.locks import BulkLocks, feed_lock
from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.engine.engine import JobNotRun
from feedmill.engine.in_process import InProcessEngine
from feedmill.engine.jobs import BatchComplete, Job, Priority, RefreshFeed
from feedmill.errors import InfrastructureError
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.model.batch import JobOutcome
from feedmill.model.feed import Claim, Feed
from feedmill.run.job_handlers import JobHandlers
from feedmill.run.job_results import JobResult, chunk_result_of, job_result_of
from feedmill.store.database import Database
from feedmill.store.feeds.claims import FEED_DELETED, claim_feeds, take_over_claims
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.jobs.batches import finish_batch_if_complete, step_to_end_job, unfinished_jobs

log = get_logger(__name__)

RENEW_LOCKS_EVERY = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class WorkerJobRunner:
    """Runs the jobs of messages on the engine of this process."""

    db: Database
    engine: InProcessEngine
    handlers: JobHandlers
    locks: BulkLocks
    lane_of: Callable[[Feed], str] = lambda feed: ""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def run_job(self, job: Job, priority: Priority, job_id: str) -> JobResult | None:
        if isinstance(job, BatchComplete) and await unfinished_jobs(self.db, job.batch_id):
            # Some of its messages came again, and were counted; the one that ends the last job finishes the batch.
            return {"success": True, "skipped": True, "reason": "not_complete"}
        names = [feed_lock(job.feed_id)] if isinstance(job, RefreshFeed) else []
        async with self._locked(names, job_id):
            outcome = await self.engine.run(job, priority)
        if isinstance(job, RefreshFeed):
            return job_result_of(outcome) if isinstance(outcome, JobOutcome) else None
        return {"success": True}

    async def run_chunk(self, jobs: Sequence[RefreshFeed], priority: Priority, job_id: str) -> JobResult:
        started = time.monotonic()
        try:
            own_jobs = await self._take(jobs)
            async with self._locked([feed_lock(job.feed_id) for job in own_jobs], job_id):
                results = await self.engine.run_all(own_jobs, priority)
            await self._record_ended(own_jobs, results)
            await self._finish_batch(jobs[0].batch_id)
        except InfrastructureError as error:
            DEPENDENCY_OUTAGES.failed("refresh_feeds", error)
            log.info("refresh_chunk_abandoned", feeds=len(jobs), reason=str(error))
            return {"success": False, "error": str(error)}
        outcomes = [result for result in results if isinstance(result, JobOutcome)]
        return chunk_result_of(len(jobs), outcomes, round((time.monotonic() - started) * 1000))

    async def _take(self, jobs: Sequence[RefreshFeed]) -> list[RefreshFeed]:
        """Takes over the claims of the jobs; leaves out jobs whose feed another process has claimed."""
        token, batch_id = jobs[0].token, jobs[0].batch_id
        if token is None:
            return list(jobs)
        ids = [job.feed_id for job in jobs]
        claims = await take_over_claims(self.db, ids, token, self.clock())
        lost = set(ids) - {claim.feed.id for claim in claims}
        reclaimed = await self._claim_again(batch_id, lost) if lost and batch_id is not None else []
        return [
            job
            for owned in (claims, reclaimed)
            for job in self.handlers.held_claims.jobs_for(owned, self.lane_of, batch_id)
        ]

    async def _claim_again(self, batch_id: int, lost: set[int]) -> list[Claim]:
        """Claims the feeds that the batch still waits for and nobody has, as after a worker that stopped."""
        left = sorted(lost & set(await unfinished_jobs(self.db, batch_id)))
        existing = {feed.id: feed for feed in await feeds_of_ids(self.db, left)} if left else {}
        skipped = {id: FEED_DELETED for id in left if id not in existing}
        skipped |= {id: reason for id, feed in existing.items() if (reason := self.handlers.too_soon(feed))}
        ended = [JobOutcome(id, "skipped", message=reason) for id, reason in skipped.items()]
        await self.db.batch([step_to_end_job(batch_id, outcome, self.clock()) for outcome in ended])
        return await claim_feeds(self.db, [id for id in left if id not in skipped], self.clock())

    async def _record_ended(self, jobs: Sequence[RefreshFeed], results: Sequence[object]) -> None:
        """Releases jobs that were not run, and records as failed those that ended without an outcome."""
        undone = [job for job, result in zip(jobs, results, strict=True) if isinstance(result, JobNotRun)]
        if undone:
            await self.handlers.held_claims.release(undone)
            raise JobNotRun
        without_outcome = [job for job, result in zip(jobs, results, strict=True) if not isinstance(result, JobOutcome)]
        why = Message("job.no_outcome")
        await self.db.batch(
            [
                step_to_end_job(job.batch_id, JobOutcome(job.feed_id, "failed", message=why), self.clock())
                for job in without_outcome
                if job.batch_id is not None
            ]
        )

    async def _finish_batch(self, batch_id: int | None) -> None:
        """Finishes the batch after its last job: its callback has run before if messages came more than once."""
        if batch_id is not None and await finish_batch_if_complete(self.db, batch_id, self.clock()):
            await self.handlers.nudge_images()

    @asynccontextmanager
    async def _locked(self, names: list[str], job_id: str) -> AsyncIterator[None]:
        """Shows other programs which job refreshes these feeds."""
        if not names:
            yield
            return
        await self.locks.hold(names, job_id)
        renewing = asyncio.create_task(self._keep_locked(names, job_id))
        try:
            yield
        finally:
            renewing.cancel()
            await self.locks.release_all(names, job_id)

    async def _keep_locked(self, names: list[str], job_id: str) -> None:
        while True:
            await asyncio.sleep(RENEW_LOCKS_EVERY.total_seconds())
            await self.locks.hold(names, job_id)
