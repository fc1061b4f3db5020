"""Batches: refresh many feeds, watch how it goes, and be told when the last one ended."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from feedmill.engine.engine import Engine
from feedmill.engine.jobs import BatchComplete, Priority, RefreshFeed
from feedmill.model.feed import Feed
from feedmill.store.batches import Batch, JobOutcome, adopt_batches, jobs_left, outcomes_since, read_batch, start_batch
from feedmill.store.database import Database
from feedmill.store.feeds import feeds_of_ids

# Watchers are told at most this often.
TELL_EVERY = 0.2
ABANDONED = timedelta(minutes=4)


@dataclass(frozen=True, slots=True)
class Progress:
    """How a batch stands, and the feeds that ended since the last time."""

    batch: Batch
    ended: tuple[JobOutcome, ...]


@dataclass(frozen=True, slots=True)
class Batches:
    """Starts batches on an engine; how they stand is in the database, for whoever watches."""

    db: Database
    engine: Engine
    lane_of: Callable[[Feed], str] = lambda feed: ""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def refresh(self, kind: str, feed_ids: Sequence[int], user_id: int | None = None) -> tuple[int, bool]:
        """Refreshes these feeds; the batch, and whether it is new (else a running one was joined)."""
        batch_id, is_new = await start_batch(self.db, kind, feed_ids, self.clock(), user_id)
        if is_new:
            await self._submit(batch_id, list(feed_ids))
        return batch_id, is_new

    async def resume(self) -> list[int]:
        """Takes up the batches whose process is gone, where they stood."""
        now = self.clock()
        adopted = await adopt_batches(self.db, now - ABANDONED, now)
        for batch_id in adopted:
            await self._submit(batch_id, await jobs_left(self.db, batch_id))
        return adopted

    async def watch(self, batch_id: int) -> AsyncIterator[Progress]:
        """How the batch goes, each time that something has changed, until it has ended."""
        seen: set[int] = set()
        since, told = "", None
        while (batch := await read_batch(self.db, batch_id)) is not None:
            ended = await outcomes_since(self.db, batch_id, since)
            news = tuple(outcome for _, outcome in ended if outcome.feed_id not in seen)
            # A little back, because what was written at the same moment may show up a moment later.
            since = _a_little_before(ended[-1][0]) if ended else since
            seen.update(outcome.feed_id for outcome in news)
            if batch != told or news:
                yield Progress(batch, news)
                told = batch
            if batch.status != "running":
                return
            await asyncio.sleep(TELL_EVERY)

    async def _submit(self, batch_id: int, feed_ids: list[int]) -> None:
        feeds = {feed.id: feed for feed in await feeds_of_ids(self.db, feed_ids)}
        lanes = {feed_id: self.lane_of(feed) for feed_id, feed in feeds.items()}
        jobs = [RefreshFeed(feed_id, batch_id=batch_id, lane=lanes.get(feed_id, "")) for feed_id in feed_ids]
        await self.engine.run_batch(jobs, BatchComplete(batch_id), Priority.MANUAL)


def _a_little_before(text: str) -> str:
    moment = datetime.fromisoformat(text) - timedelta(seconds=5)
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:23] + "Z"
