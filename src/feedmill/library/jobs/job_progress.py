"""The progress of a job as the user who watches it sees it."""

from collections.abc import Sequence
from datetime import datetime

from feedmill.model.batch import BatchProgress, JobOutcome
from feedmill.store.database import Database
from feedmill.store.jobs.feeds_in_progress import FeedInProgress, feeds_in_progress
from feedmill.store.subscriptions.subscriptions import subscription_ids_by_feed


async def current_feeds(db: Database, user_id: int, progress: BatchProgress, now: datetime) -> list[FeedInProgress]:
    """Some of the user's feeds in the job that are being fetched now."""
    return await feeds_in_progress(db, progress.batch.id, user_id, progress.running, now)


async def subscriptions_of_outcomes(db: Database, user_id: int, outcomes: Sequence[JobOutcome]) -> dict[int, int]:
    """The ids of the user's subscriptions to the feeds of these outcomes, by feed."""
    feed_ids = [outcome.feed_id for outcome in outcomes]
    return await subscription_ids_by_feed(db, user_id, feed_ids) if feed_ids else {}
