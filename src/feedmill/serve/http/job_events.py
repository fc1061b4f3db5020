"""Streams the progress of a job as numbered server-sent events that a client can resume.

Feeds are numbered in the order in which they ended. A client that comes back with the last number goes on after it,
at whichever process it comes back to. A feed is told a moment after it ended, because others that ended before it may
still be about to be written, and would change the numbers.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from feedmill.library.jobs.job_port import JobPort
from feedmill.library.jobs.job_progress import current_feeds, subscriptions_of_outcomes
from feedmill.model.batch import Batch, JobOutcome
from feedmill.model.timestamps import to_iso
from feedmill.serve.http.sse import HEARTBEAT, format_event, with_idle_ticks
from feedmill.store.database import Database

SETTLED_AFTER = timedelta(seconds=1)
TICK_SECONDS = 1.0
HEARTBEAT_TICKS = 15


@dataclass(slots=True)
class _NumberedOutcomes:
    """The feeds that ended, in an order that is the same for whoever asks again."""

    number: int = 0
    waiting: list[JobOutcome] = field(default_factory=list)

    def settled(self, before: str) -> list[tuple[int, JobOutcome]]:
        """Those that ended before then, each with its number; once."""
        ready = sorted(
            (each for each in self.waiting if each.finished_at <= before),
            key=lambda each: (each.finished_at, each.feed_id),
        )
        self.waiting = [each for each in self.waiting if each.finished_at > before]
        numbered = list(enumerate(ready, self.number + 1))
        self.number += len(ready)
        return numbered


async def job_event_stream(
    work: JobPort, db: Database, batch: Batch, user_id: int, seen: int, tell: Callable[[str], str] = str
) -> AsyncGenerator[bytes, None]:
    """The events after the one numbered `seen`, until the job has ended or nobody listens any more.

    `tell` says a message in the language of whoever listens.
    """
    feeds, silent, stands = _NumberedOutcomes(), 0, batch
    async with aclosing(with_idle_ticks(work.watch(batch.id), TICK_SECONDS)) as ticks:
        async for progress in ticks:
            silent = silent + 1 if progress is None else 0
            if progress is not None:
                feeds.waiting += progress.ended
                stands = progress.batch
            told = [pair for pair in feeds.settled(_settled_before(stands)) if pair[0] > seen]
            for line in await _feed_events(db, user_id, told, tell):
                yield line
            if progress is not None:
                current = await current_feeds(db, user_id, progress, datetime.now(UTC))
                yield format_event("progress", progress_fields(stands) | {"current": current})
            elif silent % HEARTBEAT_TICKS == 0:
                yield HEARTBEAT
    yield format_event("done", progress_fields(stands) | {"status": stands.status}, done_event_id(stands))


def done_event_id(batch: Batch) -> int:
    """The number of the last event of a job."""
    return batch.total + 1


def progress_fields(batch: Batch) -> dict[str, Any]:
    counts = {"done": batch.done, "total": batch.total, "new": batch.new_entries, "failed": batch.failed}
    return counts | {"waiting": batch.waiting}


def _settled_before(batch: Batch) -> str:
    """Up to when it is settled which feeds have ended: all, once the job has."""
    settled = datetime.now(UTC) - SETTLED_AFTER if batch.status == "running" else datetime.max.replace(tzinfo=UTC)
    return to_iso(settled)


async def _feed_events(
    db: Database, user_id: int, told: Sequence[tuple[int, JobOutcome]], tell: Callable[[str], str]
) -> list[bytes]:
    mine = await subscriptions_of_outcomes(db, user_id, [outcome for _, outcome in told])
    return [
        format_event("feed", outcome_fields(outcome, mine.get(outcome.feed_id), tell), number)
        for number, outcome in told
    ]


def outcome_fields(
    outcome: JobOutcome, subscription_id: int | None, tell: Callable[[str], str] = str
) -> dict[str, Any]:
    return {
        "subscription_id": subscription_id,
        "outcome": outcome.outcome,
        "new": outcome.new_entries,
        "ms": outcome.ms,
        "message": tell(outcome.message) if outcome.message else None,
    }
