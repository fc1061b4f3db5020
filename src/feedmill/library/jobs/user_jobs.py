"""Lists, finds and cancels the jobs of a user, and says what runs and what failed in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from feedmill.errors import NotFound
from feedmill.i18n.messages import Message, message_from_stored
from feedmill.model.batch import Batch, BatchProgress, JobOutcome
from feedmill.model.subscription import Subscription, SubscriptionName
from feedmill.store.database import Database
from feedmill.store.jobs.batches import batches_of_user, cancel_batch, failed_jobs, read_batch, running_batch
from feedmill.store.jobs.feeds_in_progress import FeedInProgress, feeds_in_progress
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of
from feedmill.store.subscriptions.sidebar_feeds import subscription_names_by_feed

MOST_FAILURES = 200


@dataclass(frozen=True, slots=True)
class FailedFeed:
    """A feed that could not be fetched; `subscription` is None if the user has unsubscribed."""

    outcome: JobOutcome
    subscription: Subscription | None

    @property
    def subscription_id(self) -> int | None:
        return self.subscription.id if self.subscription else None


async def find_job(db: Database, user_id: int, job_id: int) -> Batch:
    """The user's job, or `NotFound`, also for somebody else's."""
    batch = await read_batch(db, job_id)
    if batch is None or batch.user_id != user_id:
        raise NotFound(Message("error.no_such_job"))
    return batch


async def list_jobs(db: Database, user_id: int, before: int, most: int) -> list[Batch]:
    """The user's jobs with smaller ids than `before`, the newest first."""
    return await batches_of_user(db, user_id, before, most)


async def cancel_job(db: Database, user_id: int, job_id: int, now: datetime) -> bool:
    """Cancels the waiting feeds of the user's job; running ones finish. False when the job had ended already."""
    return await cancel_batch(db, (await find_job(db, user_id, job_id)).id, now)


async def running_job(db: Database, user_id: int) -> Batch | None:
    """The user's latest running job of several feeds."""
    batch_id = await running_batch(db, user_id)
    return await read_batch(db, batch_id) if batch_id else None


async def failures_of_job(db: Database, user_id: int, batch: Batch) -> list[FailedFeed]:
    """The failed feeds of the job with the user's subscriptions, at most `MOST_FAILURES`."""
    if not batch.failed:
        return []
    failed = await failed_jobs(db, batch.id, MOST_FAILURES)
    subscriptions = {each.feed_id: each for each in await subscriptions_of(db, user_id)}
    return [FailedFeed(outcome, subscriptions.get(outcome.feed_id)) for outcome in failed]


def import_report(batch: Batch) -> dict[str, Any] | None:
    """The report of an OPML import on its lines; None for other jobs."""
    report: dict[str, Any] | None = msgspec.json.decode(batch.report) if batch.report else None
    if report is not None:
        report["errors"] = [error | {"message": message_from_stored(error["message"])} for error in report["errors"]]
    return report


async def current_feeds(db: Database, user_id: int, progress: BatchProgress, now: datetime) -> list[FeedInProgress]:
    """Some of the user's feeds in the job that are being fetched now."""
    return await feeds_in_progress(db, progress.batch.id, user_id, progress.running, now)


async def subscriptions_of_outcomes(
    db: Database, user_id: int, outcomes: Sequence[JobOutcome]
) -> dict[int, SubscriptionName]:
    """The user's subscriptions to the feeds of these outcomes, by feed."""
    feed_ids = [outcome.feed_id for outcome in outcomes]
    return await subscription_names_by_feed(db, user_id, feed_ids) if feed_ids else {}
