"""Deletes expired data: rows first, recording their objects as garbage, then the objects.

    entries → raw bodies → batches, unread lists → objects recorded as garbage → logs

If it is interrupted, the next run continues where it stopped. `lifecycle_rule` makes a bucket delete raw bodies itself.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from feedmill.archive.blobs import Blobs
from feedmill.archive.object_keys import RAW_BODIES_PREFIX
from feedmill.archive.object_store_config import FolderConfig, S3Config
from feedmill.errors import CallerError
from feedmill.settings import Settings
from feedmill.store.archive.object_garbage import count_garbage, oldest_garbage, remove_garbage_records
from feedmill.store.archive.prune_old_rows import (
    count_old_batches,
    count_old_log_lines,
    drop_empty_subscriptions,
    drop_old_batches,
    drop_old_log_lines,
)
from feedmill.store.archive.raw_bodies import count_expired_raw_bodies, drop_expired_raw_bodies
from feedmill.store.archive.retention import count_expired_entries, drop_expired_entries
from feedmill.store.database import Database
from feedmill.store.entries.drop_unused_unread_lists import (
    RETIRED_LISTS_KEPT_FOR,
    count_retired_lists,
    drop_retired_lists,
)
from feedmill.store.feeds.apply_subscriber_settings import rest_unwanted_feeds

# S3's limit for one delete request.
CHUNK_SIZE = 1000
# A bucket deletes raw bodies a day after their rows, so that no row refers to an object that is gone.
LIFECYCLE_EXTRA_DAYS = 1


@dataclass(frozen=True, slots=True)
class RetentionPeriods:
    """How long each kind of data is kept."""

    entries: timedelta = timedelta(days=180)
    raw: timedelta = timedelta(days=30)
    log: timedelta = timedelta(days=30)
    batches: timedelta = timedelta(days=7)
    lists: timedelta = RETIRED_LISTS_KEPT_FOR


@dataclass(frozen=True, slots=True)
class PurgeCounts:
    """How many of each kind were, or would be, deleted."""

    entries: int
    raw_bodies: int
    log_lines: int
    batches: int
    unread_lists: int
    objects: int


def retention_periods(settings: Settings) -> RetentionPeriods:
    return RetentionPeriods(timedelta(days=settings.retention_days), timedelta(days=settings.raw_days))


async def purge(db: Database, blobs: Blobs, periods: RetentionPeriods, now: datetime) -> PurgeCounts:
    """Deletes expired data."""
    expired = await drop_expired_entries(db, periods.entries, now)
    await drop_empty_subscriptions(db)
    await rest_unwanted_feeds(db)
    return PurgeCounts(
        entries=expired,
        raw_bodies=await drop_expired_raw_bodies(db, now - periods.raw, now),
        batches=await drop_old_batches(db, now - periods.batches),
        unread_lists=await drop_retired_lists(db, now - periods.lists),
        objects=await delete_garbage(db, blobs),
        # Last: it fails while somebody reads the log for long, as a backup does.
        log_lines=await drop_old_log_lines(db, now - periods.log),
    )


async def preview_purge(db: Database, periods: RetentionPeriods, now: datetime) -> PurgeCounts:
    """What `purge` would delete now."""
    expired, images = await count_expired_entries(db, periods.entries, now)
    bodies = await count_expired_raw_bodies(db, now - periods.raw)
    return PurgeCounts(
        entries=expired,
        raw_bodies=bodies,
        log_lines=await count_old_log_lines(db, now - periods.log),
        batches=await count_old_batches(db, now - periods.batches),
        unread_lists=await count_retired_lists(db, now - periods.lists),
        objects=await count_garbage(db) + images + bodies,
    )


async def delete_garbage(db: Database, blobs: Blobs) -> int:
    """Deletes the objects recorded as garbage, chunk by chunk; a record is removed after its object."""
    deleted = 0
    while (chunk := await oldest_garbage(db, CHUNK_SIZE)) is not None:
        if chunk:
            await blobs.delete_many([one.key for one in chunk])
            await remove_garbage_records(db, chunk)
        deleted += len(chunk)
    return deleted


def lifecycle_rule(config: FolderConfig | S3Config, raw_days: float) -> dict[str, Any]:
    """The input of `aws s3api put-bucket-lifecycle-configuration`; raises CallerError for a folder."""
    if isinstance(config, FolderConfig):
        raise CallerError(f"objects are in the folder {config.folder}: only a bucket takes a lifecycle rule")
    rule = {
        "ID": "feedmill-raw-bodies",
        "Status": "Enabled",
        "Filter": {"Prefix": "/".join(filter(None, (config.prefix, RAW_BODIES_PREFIX)))},
        "Expiration": {"Days": math.ceil(raw_days) + LIFECYCLE_EXTRA_DAYS},
    }
    return {"Rules": [rule]}
