"""Measures and forecasts the storage usage of one user's feeds; counts what a shorter retention would delete."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from feedmill.i18n.natural_order import natural_key
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.model.subscription import Subscription
from feedmill.store.archive.retention import count_expired_entries_of_feed
from feedmill.store.archive.user_storage_usage import ArchiveSize, archive_size_by_feed, archive_size_since
from feedmill.store.database import Database
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of

MONTH = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class FeedStorageUsage:
    feed: Subscription
    space: ArchiveSize


@dataclass(frozen=True, slots=True)
class StorageForecast:
    """The bytes that arrived in the last month, and the expected storage usage in a month."""

    came_in: int
    in_a_month: int


async def storage_usage_by_feed(db: Database, user_id: int) -> list[FeedStorageUsage]:
    """The storage usage of the user's feeds, the largest first."""
    sizes = await archive_size_by_feed(db, user_id)
    spaces = [
        FeedStorageUsage(each, sizes.get(each.feed_id, ArchiveSize())) for each in await subscriptions_of(db, user_id)
    ]
    return sorted(spaces, key=lambda each: (-each.space.bytes, natural_key(each.feed.title)))


async def forecast_storage(
    db: Database, user_id: int, feeds: Sequence[FeedStorageUsage], raw_keep: timedelta, now: datetime
) -> StorageForecast:
    """The expected storage usage in a month, if as much arrives as in the last one."""
    came = await archive_size_since(db, user_id, now - MONTH)
    raw = sum(each.space.raw_bytes for each in feeds)
    images = sum(each.space.image_bytes for each in feeds)
    # Raw bodies expire, so there are never more than arrive within their retention.
    then = min(raw + came.raw_bytes, round(came.raw_bytes * (raw_keep / MONTH)))
    return StorageForecast(came.bytes, images + came.image_bytes + then)


async def count_expiring(
    db: Database, user_id: int, subscription_id: int, retention: timedelta, now: datetime
) -> tuple[int, int]:
    """The number of entries of a feed of the user's that would expire with this retention, and of their images."""
    subscription = await find_subscription(db, user_id, subscription_id)
    return await count_expired_entries_of_feed(db, subscription.feed_id, retention, now)
