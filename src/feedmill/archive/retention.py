"""The spine of forgetting: rows go first and name their objects in the same batch, then the objects go.

    entries → raw bodies → logs, batches, unread lists → objects on the record of garbage

Whatever stops it in between, the next run goes on where it stood.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from feedmill.archive.blobs import Blobs
from feedmill.settings import Settings
from feedmill.store.database import Database
from feedmill.store.garbage import count_garbage, forget_garbage, oldest_garbage
from feedmill.store.pruning import (
    count_left_lists,
    count_old_batches,
    count_old_lines,
    drop_left_lists,
    drop_old_batches,
    drop_old_lines,
)
from feedmill.store.raw import count_expired_bodies, drop_expired_bodies
from feedmill.store.retention import count_expired_entries, drop_expired_entries

# What S3 deletes in one request.
LOT = 1000


@dataclass(frozen=True, slots=True)
class Keeping:
    """For how long each thing is kept."""

    entries: timedelta = timedelta(days=180)
    raw: timedelta = timedelta(days=30)
    log: timedelta = timedelta(days=30)
    batches: timedelta = timedelta(days=7)
    # Until then mark-all-read can be taken back.
    lists: timedelta = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Purged:
    """How many of each were, or would be, dropped."""

    entries: int
    raw_bodies: int
    log_lines: int
    batches: int
    unread_lists: int
    objects: int


def read_keeping(settings: Settings) -> Keeping:
    return Keeping(timedelta(days=settings.retention_days), timedelta(days=settings.raw_days))


async def purge(db: Database, blobs: Blobs, keeping: Keeping, now: datetime) -> Purged:
    """Drops whatever has been kept long enough."""
    return Purged(
        entries=await drop_expired_entries(db, keeping.entries, now),
        raw_bodies=await drop_expired_bodies(db, now - keeping.raw, now),
        log_lines=await drop_old_lines(db, now - keeping.log),
        batches=await drop_old_batches(db, now - keeping.batches),
        unread_lists=await drop_left_lists(db, now - keeping.lists),
        objects=await delete_garbage(db, blobs),
    )


async def foresee(db: Database, keeping: Keeping, now: datetime) -> Purged:
    """What `purge` would drop now."""
    expired, images = await count_expired_entries(db, keeping.entries, now)
    bodies = await count_expired_bodies(db, now - keeping.raw)
    return Purged(
        entries=expired,
        raw_bodies=bodies,
        log_lines=await count_old_lines(db, now - keeping.log),
        batches=await count_old_batches(db, now - keeping.batches),
        unread_lists=await count_left_lists(db, now - keeping.lists),
        objects=await count_garbage(db) + images + bodies,
    )


async def delete_garbage(db: Database, blobs: Blobs) -> int:
    """Deletes the objects on the record, lot by lot; each is taken off the record when it is gone."""
    deleted = 0
    while (lot := await oldest_garbage(db, LOT)) is not None:
        if lot:
            await blobs.delete_many([one.key for one in lot])
            await forget_garbage(db, lot)
        deleted += len(lot)
    return deleted
