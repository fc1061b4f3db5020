"""Purges what was kept long enough: rows first, recording their objects as garbage, then the objects.

    entries → raw bodies → logs, batches, unread lists → objects on the record of garbage

Whatever stops it in between, the next run goes on where it stood.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from feedmill.archive.blobs import Blobs
from feedmill.archive.keys import RAW_BODIES_PREFIX
from feedmill.archive.object_store_config import FolderConfig, S3Config
from feedmill.errors import CallerError
from feedmill.settings import Settings
from feedmill.store.archive.object_garbage import count_garbage, oldest_garbage, remove_garbage_records
from feedmill.store.archive.prune_old_rows import (
    count_old_batches,
    count_old_log_lines,
    count_retired_lists,
    drop_old_batches,
    drop_old_log_lines,
    drop_retired_lists,
)
from feedmill.store.archive.raw_bodies import count_expired_raw_bodies, drop_expired_raw_bodies
from feedmill.store.archive.retention import count_expired_entries, drop_expired_entries
from feedmill.store.database import Database
from feedmill.store.feeds.merge_feeds import drop_empty_subscriptions
from feedmill.store.subscriptions.change_subscription import rest_unwanted_feeds

# A day later than our own rows, so that no row speaks of an object that the bucket has ended.
LIFECYCLE_EXTRA_DAYS = 1

# What S3 deletes in one request.
LOT = 1000


@dataclass(frozen=True, slots=True)
class RetentionPeriods:
    """For how long each thing is kept."""

    entries: timedelta = timedelta(days=180)
    raw: timedelta = timedelta(days=30)
    log: timedelta = timedelta(days=30)
    batches: timedelta = timedelta(days=7)
    # Until then mark-all-read can be taken back.
    lists: timedelta = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class PurgeCounts:
    """How many of each were, or would be, dropped."""

    entries: int
    raw_bodies: int
    log_lines: int
    batches: int
    unread_lists: int
    objects: int


def retention_periods(settings: Settings) -> RetentionPeriods:
    return RetentionPeriods(timedelta(days=settings.retention_days), timedelta(days=settings.raw_days))


async def purge(db: Database, blobs: Blobs, keeping: RetentionPeriods, now: datetime) -> PurgeCounts:
    """Drops whatever has been kept long enough."""
    expired = await drop_expired_entries(db, keeping.entries, now)
    await drop_empty_subscriptions(db)
    await rest_unwanted_feeds(db)
    return PurgeCounts(
        entries=expired,
        raw_bodies=await drop_expired_raw_bodies(db, now - keeping.raw, now),
        log_lines=await drop_old_log_lines(db, now - keeping.log),
        batches=await drop_old_batches(db, now - keeping.batches),
        unread_lists=await drop_retired_lists(db, now - keeping.lists),
        objects=await delete_garbage(db, blobs),
    )


async def preview_purge(db: Database, keeping: RetentionPeriods, now: datetime) -> PurgeCounts:
    """What `purge` would drop now."""
    expired, images = await count_expired_entries(db, keeping.entries, now)
    bodies = await count_expired_raw_bodies(db, now - keeping.raw)
    return PurgeCounts(
        entries=expired,
        raw_bodies=bodies,
        log_lines=await count_old_log_lines(db, now - keeping.log),
        batches=await count_old_batches(db, now - keeping.batches),
        unread_lists=await count_retired_lists(db, now - keeping.lists),
        objects=await count_garbage(db) + images + bodies,
    )


async def delete_garbage(db: Database, blobs: Blobs) -> int:
    """Deletes the objects on the record, lot by lot; each is taken off the record when it is gone."""
    deleted = 0
    while (lot := await oldest_garbage(db, LOT)) is not None:
        if lot:
            await blobs.delete_many([one.key for one in lot])
            await remove_garbage_records(db, lot)
        deleted += len(lot)
    return deleted


def lifecycle_rule(place: FolderConfig | S3Config, raw_days: float) -> dict[str, Any]:
    """What `aws s3api put-bucket-lifecycle-configuration` takes; raises CallerError for a folder."""
    if isinstance(place, FolderConfig):
        raise CallerError(f"objects are in the folder {place.folder}: only a bucket takes a lifecycle rule")
    rule = {
        "ID": "feedmill-raw-bodies",
        "Status": "Enabled",
        "Filter": {"Prefix": "/".join(filter(None, (place.prefix, RAW_BODIES_PREFIX)))},
        "Expiration": {"Days": math.ceil(raw_days) + LIFECYCLE_EXTRA_DAYS},
    }
    return {"Rules": [rule]}
