"""Runs the jobs of one message in a worker: takes over their claims, runs them, returns the result."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from feedmill.coordination.locks import LotLocks, feed_lock
from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.engine.engine import JobNotRun
from feedmill.engine.in_process import InProcessEngine
from feedmill.engine.jobs import BatchComplete, Job, Priority, RefreshFeed
from feedmill.errors import InfrastructureError
from feedmill.lazy_loggers import get_logger
from feedmill.model.batch import JobOutcome
from feedmill.model.feed import Claim, Feed
from feedmill.run.job_handlers import JobHandlers
from feedmill.run.job_results import JobResult, job_result_of, lot_result_of
from feedmill.store.database import Database
from feedmill.store.feeds.claims import claim_feeds, take_over_claims
from feedmill.store.feeds.feeds import feeds_of_ids
from feedmill.store.jobs.batches import step_to_end_job, unfinished_jobs

log = get_logger(__name__)

RENEW_LOCKS_EVERY = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class WorkerJobRunner:
    """Runs what comes in messages on the engine of this process."""

    db: Database
    engine: InProcessEngine
    handlers: JobHandlers
    locks: LotLocks
    lane_of: Callable[[Feed], str] = lambda feed: ""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def run_job(self, job: Job, priority: Priority, job_id: str) -> JobResult | None:
        if isinstance(job, BatchComplete) and await unfinished_jobs(self.db, job.batch_id):
            # Some of its lots were sent again: the last one of those calls back again.
            return {"success": True, "skipped": True, "reason": "not_complete"}
        names = [feed_lock(job.feed_id)] if isinstance(job, RefreshFeed) else []
        async with self._locked(names, job_id):
            outcome = await self.engine.run(job, priority)
        if isinstance(job, RefreshFeed):
            return job_result_of(outcome) if isinstance(outcome, JobOutcome) else None
        return {"success": True}

    async def run_lot(self, jobs: Sequence[RefreshFeed], priority: Priority, job_id: str) -> JobResult:
        started = time.monotonic()
        try:
            mine = await self._take(jobs)
            async with self._locked([feed_lock(job.feed_id) for job in mine], job_id):
                ends = await self.engine.run_all(mine, priority)
            await self._tidy(mine, ends)
        except InfrastructureError as error:
            DEPENDENCY_OUTAGES.failed("refresh_feeds", error)
            log.info("lot_left_to_others", feeds=len(jobs), reason=str(error))
            return {"success": False, "error": str(error)}
        outcomes = [end for end in ends if isinstance(end, JobOutcome)]
        return lot_result_of(len(jobs), outcomes, round((time.monotonic() - started) * 1000))

    async def _take(self, jobs: Sequence[RefreshFeed]) -> list[RefreshFeed]:
        """The jobs with claims of our own; without those that somebody else has by now."""
        token, batch_id = jobs[0].token, jobs[0].batch_id
        if token is None:
            return list(jobs)
        ids = [job.feed_id for job in jobs]
        claims = await take_over_claims(self.db, ids, token, self.clock())
        lost = set(ids) - {claim.feed.id for claim in claims}
        again = await self._claim_again(batch_id, lost) if lost and batch_id is not None else []
        return [job for mine in (claims, again) for job in self.handlers.keeper.jobs_for(mine, self.lane_of, batch_id)]

    async def _claim_again(self, batch_id: int, lost: set[int]) -> list[Claim]:
        """Claims what a batch still waits for and nobody has, as after a worker that stopped."""
        left = sorted(lost & set(await unfinished_jobs(self.db, batch_id)))
        there = {feed.id: feed for feed in await feeds_of_ids(self.db, left)} if left else {}
        over = {id: "feed_deleted" for id in left if id not in there}
        over |= {id: reason for id, feed in there.items() if (reason := self.handlers.too_soon(feed))}
        ended = [JobOutcome(id, "skipped", message=reason) for id, reason in over.items()]
        await self.db.batch([step_to_end_job(batch_id, outcome, self.clock()) for outcome in ended])
        return await claim_feeds(self.db, [id for id in left if id not in over], self.clock())

    async def _tidy(self, jobs: Sequence[RefreshFeed], ends: Sequence[object]) -> None:
        """Gives back what was not run, and says in their batch which jobs did not say how they ended."""
        undone = [job for job, end in zip(jobs, ends, strict=True) if isinstance(end, JobNotRun)]
        if undone:
            await self.handlers.keeper.give_back(undone)
            raise JobNotRun
        silent = [job for job, end in zip(jobs, ends, strict=True) if not isinstance(end, JobOutcome)]
        why = "the job ended without saying how"
        await self.db.batch(
            [
                step_to_end_job(job.batch_id, JobOutcome(job.feed_id, "failed", message=why), self.clock())
                for job in silent
                if job.batch_id is not None
            ]
        )

    @asynccontextmanager
    async def _locked(self, names: list[str], job_id: str) -> AsyncIterator[None]:
        """Lets other programs see which job refreshes these feeds."""
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
