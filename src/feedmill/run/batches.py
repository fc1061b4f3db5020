"""Starts batches of refreshes, reports their progress, and resumes abandoned ones."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from feedmill.engine.engine import Engine
from feedmill.engine.jobs import BatchComplete, Job, Priority, RefreshFeed
from feedmill.engine.run_periodically import run_periodically
from feedmill.lazy_loggers import get_logger
from feedmill.model.batch import Batch, BatchProgress, JobOutcome
from feedmill.model.feed import Claim, Feed
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.run.job_handlers import JobHandlers
from feedmill.store.database import Database
from feedmill.store.feeds.claims import claim_feeds, release_claims, why_unclaimed
from feedmill.store.jobs.batches import (
    outcomes_since,
    read_batch,
    release_batches,
    start_batch,
    step_to_end_job,
    take_over_batches,
    unfinished_jobs,
)

log = get_logger(__name__)

# Seconds between two progress reports.
PROGRESS_INTERVAL = 0.2
# Feeds claimed at a time: D1 takes a thousand statements in a batch, and the rows of ten thousand feeds are 20 MB.
CHUNK_SIZE = 500
# A job ends within two minutes, and a claim that its process did not release after three.
ABANDONED_AFTER = timedelta(minutes=4)
# How soon a batch that could not be sent is resumed.
RESUME_EVERY = timedelta(seconds=15)


async def always_true() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Batches:
    """Starts batches on an engine; their progress is in the database."""

    db: Database
    engine: Engine
    handlers: JobHandlers
    lane_of: Callable[[Feed], str] = lambda feed: ""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    # Whether jobs can be sent now.
    can_send: Callable[[], Awaitable[bool]] = always_true

    async def refresh(
        self, kind: str, feed_ids: Sequence[int], user_id: int | None = None, about: str = "", report: str | None = None
    ) -> tuple[int, bool]:
        """Refreshes these feeds; returns the batch id, and whether it is new (else a running batch was joined)."""
        batch_id, is_new = await start_batch(self.db, kind, feed_ids, self.clock(), user_id, about, report)
        if is_new:
            await self._submit(batch_id, list(dict.fromkeys(feed_ids)))
        return batch_id, is_new

    async def archive_images(self) -> None:
        """Starts the work on images that wait, in this process or in a worker."""
        await self.handlers.nudge_images()

    def waits(self) -> Mapping[str, int]:
        """How many jobs wait in this process, by priority."""
        return self.engine.waits()

    async def resume(self) -> list[int]:
        """Continues the batches whose process is gone; returns their ids."""
        if not await self.can_send():
            return []
        now = self.clock()
        resumed = await take_over_batches(self.db, now - ABANDONED_AFTER, now)
        for batch_id in resumed:
            await self._submit(batch_id, await unfinished_jobs(self.db, batch_id))
        return resumed

    async def keep_resuming(self) -> None:
        """Resumes abandoned batches, now and periodically; cancel it to stop."""
        await run_periodically("resume_batches", self.resume, min(RESUME_EVERY, ABANDONED_AFTER / 4))

    async def release(self, undone: Sequence[Job]) -> None:
        """Lets other processes resume these jobs at once."""
        batch_ids = {job.batch_id for job in undone if isinstance(job, RefreshFeed) and job.batch_id is not None}
        await release_batches(self.db, sorted(batch_ids))

    async def watch(self, batch_id: int) -> AsyncGenerator[BatchProgress, None]:
        """Yields the progress of the batch after each change, until it has ended."""
        reported_ids: set[int] = set()
        since = ""
        reported: tuple[Batch, tuple[int, ...]] | None = None
        while (batch := await read_batch(self.db, batch_id)) is not None:
            # At the end read from the start once more: a write may have taken longer than the overlap.
            ended = await outcomes_since(self.db, batch_id, since if batch.status == "running" else "", reported_ids)
            new_outcomes = tuple(outcome for _, outcome in ended)
            # With an overlap, because rows with the same time may become visible a moment later.
            since = _minus_overlap(ended[-1][0]) if ended else since
            reported_ids.update(outcome.feed_id for outcome in new_outcomes)
            running = self.handlers.held_claims.running()
            if (batch, running) != reported or new_outcomes:
                yield BatchProgress(batch, new_outcomes, running)
                reported = (batch, running)
            if batch.status != "running":
                return
            await asyncio.sleep(PROGRESS_INTERVAL)

    async def _submit(self, batch_id: int, feed_ids: list[int]) -> None:
        if not await self.can_send():
            # Nothing is claimed: a worker resumes the batch, or any process once the broker answers again.
            log.info("batch_not_sent", batch_id=batch_id, feeds=len(feed_ids), reason="the broker does not answer")
            await release_batches(self.db, [batch_id])
            return
        chunks = [feed_ids[start : start + CHUNK_SIZE] for start in range(0, len(feed_ids), CHUNK_SIZE)]
        claimed = [await self._claim(batch_id, chunk) for chunk in chunks]
        # Only when all are claimed: no claims may be held of a batch that could not be started.
        jobs = [job for claims in claimed for job in self.handlers.held_claims.jobs_for(claims, self.lane_of, batch_id)]
        await self.engine.run_batch(jobs, BatchComplete(batch_id), Priority.MANUAL)

    async def _claim(self, batch_id: int, feed_ids: list[int]) -> list[Claim]:
        """Claims the feeds that can be claimed now; records the outcome of the others."""
        claims = await claim_feeds(self.db, feed_ids, self.clock())
        too_soon = {claim.feed.id: reason for claim in claims if (reason := self.handlers.too_soon(claim.feed))}
        await release_claims(self.db, [claim for claim in claims if claim.feed.id in too_soon])
        unclaimed = set(feed_ids) - {claim.feed.id for claim in claims}
        skipped = too_soon | await why_unclaimed(self.db, sorted(unclaimed))
        ended = [JobOutcome(id, "skipped", message=reason) for id, reason in skipped.items()]
        await self.db.batch([step_to_end_job(batch_id, outcome, self.clock()) for outcome in ended])
        return [claim for claim in claims if claim.feed.id not in too_soon]


def _minus_overlap(text: str) -> str:
    return to_iso(from_iso(text) - timedelta(seconds=5))
