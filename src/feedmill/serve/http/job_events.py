"""Streams the progress of a job as numbered server-sent events that a client can resume.

Feeds are numbered in the order in which they ended. A client that reconnects with the last number continues after it,
at any process. A feed is sent a moment after it ended, because outcomes of feeds that ended before it may not be
committed yet, and would change the numbers.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from feedmill.i18n.messages import Message
from feedmill.library.jobs.job_port import JobPort
from feedmill.library.jobs.user_jobs import current_feeds, subscriptions_of_outcomes
from feedmill.model.batch import Batch, JobOutcome
from feedmill.model.subscription import SubscriptionName
from feedmill.model.timestamps import to_iso
from feedmill.serve.http.sse import HEARTBEAT, format_event, with_idle_ticks
from feedmill.store.database import Database

SETTLED_AFTER = timedelta(seconds=1)
TICK_SECONDS = 1.0
HEARTBEAT_TICKS = 15


@dataclass(slots=True)
class _NumberedOutcomes:
    """The feeds that ended, in an order that is the same for every client and process."""

    number: int = 0
    waiting: list[JobOutcome] = field(default_factory=list)

    def settled(self, before: str) -> list[tuple[int, JobOutcome]]:
        """Returns those that ended before then, each once and with its number."""
        ready = sorted(
            (outcome for outcome in self.waiting if outcome.finished_at <= before),
            key=lambda outcome: (outcome.finished_at, outcome.feed_id),
        )
        self.waiting = [outcome for outcome in self.waiting if outcome.finished_at > before]
        numbered = list(enumerate(ready, self.number + 1))
        self.number += len(ready)
        return numbered


async def job_event_stream(
    work: JobPort, db: Database, batch: Batch, user_id: int, seen: int, translate: Callable[[Message], str] = str
) -> AsyncGenerator[bytes, None]:
    """Yields the events after the one numbered `seen`, until the job has ended or the client is gone.

    `translate` renders a message in the client's language.
    """
    feeds, idle_ticks, current_batch = _NumberedOutcomes(), 0, batch
    async with aclosing(with_idle_ticks(work.watch(batch.id), TICK_SECONDS)) as ticks:
        async for progress in ticks:
            idle_ticks = idle_ticks + 1 if progress is None else 0
            if progress is not None:
                feeds.waiting += progress.ended
                current_batch = progress.batch
            outcomes = [pair for pair in feeds.settled(_settled_before(current_batch)) if pair[0] > seen]
            for line in await _feed_events(db, user_id, outcomes, translate):
                yield line
            if progress is not None:
                current = await current_feeds(db, user_id, progress, datetime.now(UTC))
                yield format_event("progress", progress_fields(current_batch) | {"current": current})
            elif idle_ticks % HEARTBEAT_TICKS == 0:
                yield HEARTBEAT
    yield format_event(
        "done", progress_fields(current_batch) | {"status": current_batch.status}, done_event_id(current_batch)
    )


def done_event_id(batch: Batch) -> int:
    """The number of the last event of a job."""
    return batch.total + 1


def progress_fields(batch: Batch) -> dict[str, Any]:
    counts = {"done": batch.done, "total": batch.total, "new": batch.new_entries, "failed": batch.failed}
    return counts | {"waiting": batch.waiting}


def _settled_before(batch: Batch) -> str:
    """The time before which the order of ended feeds is final; unlimited once the job has ended."""
    settled = datetime.now(UTC) - SETTLED_AFTER if batch.status == "running" else datetime.max.replace(tzinfo=UTC)
    return to_iso(settled)


async def _feed_events(
    db: Database, user_id: int, outcomes: Sequence[tuple[int, JobOutcome]], translate: Callable[[Message], str]
) -> list[bytes]:
    subscriptions = await subscriptions_of_outcomes(db, user_id, [outcome for _, outcome in outcomes])
    return [
        format_event("feed", _feed_fields(outcome, subscriptions.get(outcome.feed_id), translate), number)
        for number, outcome in outcomes
    ]


def _feed_fields(
    outcome: JobOutcome, subscription: SubscriptionName | None, translate: Callable[[Message], str]
) -> dict[str, Any]:
    id, title = subscription or (None, None)
    return outcome_fields(outcome, id, translate) | {"title": title}


def outcome_fields(
    outcome: JobOutcome, subscription_id: int | None, translate: Callable[[Message], str] = str
) -> dict[str, Any]:
    return {
        "subscription_id": subscription_id,
        "outcome": outcome.outcome,
        "new": outcome.new_entries,
        "ms": outcome.ms,
        "message": translate(outcome.message) if outcome.message else None,
    }
