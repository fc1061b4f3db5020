"""Starts batches of refreshes, reports their progress, and resumes abandoned ones."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from feedmill.engine.engine import Engine
from feedmill.engine.jobs import BatchComplete, Job, Priority, RefreshFeed
from feedmill.engine.periodic import run_periodically
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

# Watchers are told at most this often.
PROGRESS_INTERVAL = 0.2
# Feeds claimed at a time: D1 takes a thousand statements at once, and the rows of ten thousand feeds are 20 MB.
LOT = 500
# A job ends, one way or another, within two minutes; a claim that its process did not give back after three.
ABANDONED_AFTER = timedelta(minutes=4)
# So soon is a batch taken up that could not be sent.
RESUME_EVERY = timedelta(seconds=15)


async def always_true() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Batches:
    """Starts batches on an engine; how they stand is in the database, for whoever watches."""

    db: Database
    engine: Engine
    handlers: JobHandlers
    lane_of: Callable[[Feed], str] = lambda feed: ""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    # Whether there is somebody to send jobs to now.
    can_send: Callable[[], Awaitable[bool]] = always_true

    async def refresh(
        self, kind: str, feed_ids: Sequence[int], user_id: int | None = None, about: str = "", report: str | None = None
    ) -> tuple[int, bool]:
        """Refreshes these feeds; the batch, and whether it is new (else a running one was joined)."""
        batch_id, is_new = await start_batch(self.db, kind, feed_ids, self.clock(), user_id, about, report)
        if is_new:
            await self._submit(batch_id, list(dict.fromkeys(feed_ids)))
        return batch_id, is_new

    def waits(self) -> Mapping[str, int]:
        """How many jobs wait in this process, by priority."""
        return self.engine.waits()

    async def resume(self) -> list[int]:
        """Takes up the batches that nobody works on, where they stood."""
        if not await self.can_send():
            return []
        now = self.clock()
        adopted = await take_over_batches(self.db, now - ABANDONED_AFTER, now)
        for batch_id in adopted:
            await self._submit(batch_id, await unfinished_jobs(self.db, batch_id))
        return adopted

    async def keep_resuming(self) -> None:
        """Resumes what was abandoned, now and again and again; cancel it to stop."""
        await run_periodically("resume_batches", self.resume, min(RESUME_EVERY, ABANDONED_AFTER / 4))

    async def leave(self, undone: Sequence[Job]) -> None:
        """Lets others take up at once what is not done here."""
        left = {job.batch_id for job in undone if isinstance(job, RefreshFeed) and job.batch_id is not None}
        await release_batches(self.db, sorted(left))

    async def watch(self, batch_id: int) -> AsyncGenerator[BatchProgress, None]:
        """How the batch goes, each time that something has changed, until it has ended."""
        seen: set[int] = set()
        since = ""
        told: tuple[Batch, tuple[int, ...]] | None = None
        while (batch := await read_batch(self.db, batch_id)) is not None:
            # At the end once more from the start: a write may have taken longer than we look back.
            ended = await outcomes_since(self.db, batch_id, since if batch.status == "running" else "", seen)
            news = tuple(outcome for _, outcome in ended)
            # A little back, because what was written at the same moment may show up a moment later.
            since = _a_little_before(ended[-1][0]) if ended else since
            seen.update(outcome.feed_id for outcome in news)
            running = self.handlers.keeper.running()
            if (batch, running) != told or news:
                yield BatchProgress(batch, news, running)
                told = (batch, running)
            if batch.status != "running":
                return
            await asyncio.sleep(PROGRESS_INTERVAL)

    async def _submit(self, batch_id: int, feed_ids: list[int]) -> None:
        if not await self.can_send():
            # Nothing is claimed: a worker that is there takes the batch up, or whoever sees the queue come back.
            log.info("batch_not_sent", batch_id=batch_id, feeds=len(feed_ids), reason="the broker does not answer")
            await release_batches(self.db, [batch_id])
            return
        lots = [feed_ids[start : start + LOT] for start in range(0, len(feed_ids), LOT)]
        claimed = [await self._claim(batch_id, lot) for lot in lots]
        # Not before all are claimed: those of a batch that could not be begun are not ours to keep.
        jobs = [job for claims in claimed for job in self.handlers.keeper.jobs_for(claims, self.lane_of, batch_id)]
        await self.engine.run_batch(jobs, BatchComplete(batch_id), Priority.MANUAL)

    async def _claim(self, batch_id: int, feed_ids: list[int]) -> list[Claim]:
        """Claims all of these that can be claimed at once; what can't has its outcome already."""
        claims = await claim_feeds(self.db, feed_ids, self.clock())
        too_soon = {claim.feed.id: reason for claim in claims if (reason := self.handlers.too_soon(claim.feed))}
        await release_claims(self.db, [claim for claim in claims if claim.feed.id in too_soon])
        unclaimed = set(feed_ids) - {claim.feed.id for claim in claims}
        skipped = too_soon | await why_unclaimed(self.db, sorted(unclaimed))
        ended = [JobOutcome(id, "skipped", message=reason) for id, reason in skipped.items()]
        await self.db.batch([step_to_end_job(batch_id, outcome, self.clock()) for outcome in ended])
        return [claim for claim in claims if claim.feed.id not in too_soon]


def _a_little_before(text: str) -> str:
    return to_iso(from_iso(text) - timedelta(seconds=5))
