"""Batches: refresh many feeds, watch how it goes, and be told when the last one ended."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog

from feedmill.engine.engine import Engine
from feedmill.engine.jobs import BatchComplete, Job, Priority, RefreshFeed
from feedmill.engine.looping import again_and_again
from feedmill.model.feed import Claim, Feed
from feedmill.model.times import from_text, to_text
from feedmill.run.handlers import Handlers
from feedmill.store.batches import (
    Batch,
    JobOutcome,
    Progress,
    adopt_batches,
    end_job,
    jobs_left,
    leave_batches,
    outcomes_since,
    read_batch,
    start_batch,
)
from feedmill.store.claims import claim_feeds, give_back, why_unclaimed
from feedmill.store.database import Database

log = structlog.get_logger(__name__)

# Watchers are told at most this often.
TELL_EVERY = 0.2
# Feeds claimed at a time: D1 takes a thousand statements at once, and the rows of ten thousand feeds are 20 MB.
LOT = 500
# A job ends, one way or another, within two minutes; a claim that its process did not give back after three.
ABANDONED = timedelta(minutes=4)


@dataclass(frozen=True, slots=True)
class Batches:
    """Starts batches on an engine; how they stand is in the database, for whoever watches."""

    db: Database
    engine: Engine
    handlers: Handlers
    lane_of: Callable[[Feed], str] = lambda feed: ""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

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
        """Takes up the batches whose process is gone, where they stood."""
        now = self.clock()
        adopted = await adopt_batches(self.db, now - ABANDONED, now)
        for batch_id in adopted:
            await self._submit(batch_id, await jobs_left(self.db, batch_id))
        return adopted

    async def keep_resuming(self) -> None:
        """Resumes what was abandoned, now and again and again; cancel it to stop."""
        await again_and_again("resuming batches", self.resume, ABANDONED / 4)

    async def leave(self, undone: Sequence[Job]) -> None:
        """Lets others take up at once what is not done here."""
        left = {job.batch_id for job in undone if isinstance(job, RefreshFeed) and job.batch_id is not None}
        await leave_batches(self.db, sorted(left))

    async def watch(self, batch_id: int) -> AsyncGenerator[Progress, None]:
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
                yield Progress(batch, news, running)
                told = (batch, running)
            if batch.status != "running":
                return
            await asyncio.sleep(TELL_EVERY)

    async def _submit(self, batch_id: int, feed_ids: list[int]) -> None:
        lots = [feed_ids[start : start + LOT] for start in range(0, len(feed_ids), LOT)]
        claimed = [await self._claim(batch_id, lot) for lot in lots]
        # Not before all are claimed: those of a batch that could not be begun are not ours to keep.
        jobs = [job for claims in claimed for job in self.handlers.keeper.jobs_for(claims, self.lane_of, batch_id)]
        await self.engine.run_batch(jobs, BatchComplete(batch_id), Priority.MANUAL)

    async def _claim(self, batch_id: int, feed_ids: list[int]) -> list[Claim]:
        """Claims all of these that can be claimed at once; what can't has its outcome already."""
        claims = await claim_feeds(self.db, feed_ids, self.clock())
        too_soon = {claim.feed.id: reason for claim in claims if (reason := self.handlers.too_soon(claim.feed))}
        await give_back(self.db, [claim for claim in claims if claim.feed.id in too_soon])
        unclaimed = set(feed_ids) - {claim.feed.id for claim in claims}
        skipped = too_soon | await why_unclaimed(self.db, sorted(unclaimed))
        ended = [JobOutcome(id, "skipped", message=reason) for id, reason in skipped.items()]
        await self.db.batch([end_job(batch_id, outcome, self.clock()) for outcome in ended])
        return [claim for claim in claims if claim.feed.id not in too_soon]


def _a_little_before(text: str) -> str:
    return to_text(from_text(text) - timedelta(seconds=5))
