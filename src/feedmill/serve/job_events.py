"""A job as a stream of events: each feed once, how far it is, and its end.

Feeds are numbered in the order in which they ended. A client that comes back with the last number goes on after it,
at whichever process it comes back to. A feed is told a moment after it ended, because others that ended before it may
still be about to be written, and would change the numbers.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from feedmill.model.times import to_text
from feedmill.serve.sse import HEARTBEAT, event, ticking
from feedmill.serve.work import Work
from feedmill.store.batches import Batch, JobOutcome
from feedmill.store.current_jobs import current_jobs
from feedmill.store.database import Database
from feedmill.store.subscriptions import subscribed_to

SETTLED_AFTER = timedelta(seconds=1)
TICK = 1.0
HEARTBEAT_TICKS = 15


@dataclass(slots=True)
class _Numbered:
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


async def events(
    work: Work, db: Database, batch: Batch, user_id: int, seen: int, tell: Callable[[str], str] = str
) -> AsyncGenerator[bytes, None]:
    """The events after the one numbered `seen`, until the job has ended or nobody listens any more.

    `tell` says a message in the language of whoever listens.
    """
    feeds, silent, stands = _Numbered(), 0, batch
    async with aclosing(ticking(work.watch(batch.id), TICK)) as ticks:
        async for progress in ticks:
            silent = silent + 1 if progress is None else 0
            if progress is not None:
                feeds.waiting += progress.ended
                stands = progress.batch
            told = [pair for pair in feeds.settled(_before(stands)) if pair[0] > seen]
            for line in await _feed_events(db, user_id, told, tell):
                yield line
            if progress is not None:
                current = await current_jobs(db, batch.id, user_id, progress.running, datetime.now(UTC))
                yield event("progress", standing(stands) | {"current": current})
            elif silent % HEARTBEAT_TICKS == 0:
                yield HEARTBEAT
    yield event("done", standing(stands) | {"status": stands.status}, done_number(stands))


def done_number(batch: Batch) -> int:
    """The number of the last event of a job."""
    return batch.total + 1


def standing(batch: Batch) -> dict[str, Any]:
    return {"done": batch.done, "total": batch.total, "new": batch.new_entries, "failed": batch.failed}


def _before(batch: Batch) -> str:
    """Up to when it is settled which feeds have ended: all, once the job has."""
    settled = datetime.now(UTC) - SETTLED_AFTER if batch.status == "running" else datetime.max.replace(tzinfo=UTC)
    return to_text(settled)


async def _feed_events(
    db: Database, user_id: int, told: Sequence[tuple[int, JobOutcome]], tell: Callable[[str], str]
) -> list[bytes]:
    mine = await subscribed_to(db, user_id, [outcome.feed_id for _, outcome in told]) if told else {}
    return [event("feed", shown(outcome, mine.get(outcome.feed_id), tell), number) for number, outcome in told]


def shown(outcome: JobOutcome, subscription_id: int | None, tell: Callable[[str], str] = str) -> dict[str, Any]:
    return {
        "subscription_id": subscription_id,
        "outcome": outcome.outcome,
        "new": outcome.new_entries,
        "ms": outcome.ms,
        "message": tell(outcome.message) if outcome.message else None,
    }
