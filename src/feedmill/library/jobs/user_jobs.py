"""Finds the jobs of a user, and what failed in them."""

from dataclasses import dataclass
from typing import Any

import msgspec

from feedmill.errors import NotFound
from feedmill.model.subscription import Subscription
from feedmill.store.database import Database
from feedmill.store.jobs.batches import Batch, JobOutcome, failed_jobs, read_batch, running_batch
from feedmill.store.subscriptions.subscriptions import subscriptions_of

MOST_FAILURES = 200


@dataclass(frozen=True, slots=True)
class FailedFeed:
    """A feed that could not be fetched; `subscription` is None when it is not subscribed to any more."""

    outcome: JobOutcome
    subscription: Subscription | None


async def find_job(db: Database, user_id: int, job_id: int) -> Batch:
    """The user's job, or `NotFound`, also for somebody else's."""
    batch = await read_batch(db, job_id)
    if batch is None or batch.user_id != user_id:
        raise NotFound("there is no such job")
    return batch


async def running_job(db: Database, user_id: int) -> Batch | None:
    """The latest of the user's jobs that runs, of those for several feeds."""
    batch_id = await running_batch(db, user_id)
    return await read_batch(db, batch_id) if batch_id else None


async def failures_of_job(db: Database, user_id: int, batch: Batch) -> list[FailedFeed]:
    """What failed, with the feeds as the user has them; the first two hundred."""
    if not batch.failed:
        return []
    failed = await failed_jobs(db, batch.id, MOST_FAILURES)
    mine = {each.feed_id: each for each in await subscriptions_of(db, user_id)}
    return [FailedFeed(outcome, mine.get(outcome.feed_id)) for outcome in failed]


def import_report(batch: Batch) -> dict[str, Any] | None:
    """What an import has to say of its lines."""
    report: dict[str, Any] | None = msgspec.json.decode(batch.report) if batch.report else None
    return report
