"""Counts what a shorter retention would delete of a feed."""

from datetime import datetime, timedelta

from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.store.archive.retention import count_expired_entries_of_feed
from feedmill.store.database import Database


async def count_expiring(
    db: Database, user_id: int, subscription_id: int, retention: timedelta, now: datetime
) -> tuple[int, int]:
    """The number of entries of a feed of the user's that would expire with this retention, and of their images."""
    return await count_expired_entries_of_feed(
        db, (await find_subscription(db, user_id, subscription_id)).feed_id, retention, now
    )
