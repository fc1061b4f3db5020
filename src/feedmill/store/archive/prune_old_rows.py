"""Deletes old rows: fetch log, finished batches, subscriptions to merged feeds that have no entries left."""

from datetime import datetime
from typing import Any

from sqlalchemy import Delete, Select, bindparam, func, select

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, one_of
from feedmill.store.feeds.fetch_log_days import drop_log_days, start_of_day
from feedmill.store.schema import batches, feeds, fetch_log, subscriptions

CHUNK_SIZE = 1000

_old_line = fetch_log.c.at < bindparam("before")
_old_batch = batches.c.finished_at < bindparam("before")
OLD_LINES = select(fetch_log.c.id).where(_old_line).order_by(fetch_log.c.at).limit(CHUNK_SIZE)
DROP_LINES = fetch_log.delete().where(one_of(fetch_log.c.id, "ids"))
COUNT_LINES = select(func.count().label("found")).where(_old_line)
OLD_BATCHES = select(batches.c.id).where(_old_batch).order_by(batches.c.id).limit(CHUNK_SIZE)
DROP_BATCHES = batches.delete().where(one_of(batches.c.id, "ids"))
COUNT_BATCHES = select(func.count().label("found")).where(_old_batch)
# Retention has deleted everything that a merged feed had.
DROP_EMPTY = subscriptions.delete().where(
    subscriptions.c.feed_id.in_(select(feeds.c.id).where(feeds.c.merged_into.is_not(None), feeds.c.entry_count == 0))
)


async def count_old_log_lines(db: Database, before: datetime) -> int:
    return await _count(db, COUNT_LINES, start_of_day(before))


async def count_old_batches(db: Database, before: datetime) -> int:
    return await _count(db, COUNT_BATCHES, before)


async def drop_old_log_lines(db: Database, before: datetime) -> int:
    """Drops the lines of the fetch log from the days before that of `before`.

    Raises a `StatementRefused` on PostgreSQL if somebody reads the log for long.
    """
    first = start_of_day(before)
    return await drop_log_days(db, first) + await _drop_in_chunks(db, OLD_LINES, DROP_LINES, first)


async def drop_old_batches(db: Database, before: datetime) -> int:
    """Drops the batches that ended before `before`, with their jobs."""
    return await _drop_in_chunks(db, OLD_BATCHES, DROP_BATCHES, before)


async def _drop_in_chunks(db: Database, some: Select[Any], drop: Delete, before: datetime) -> int:
    dropped = 0
    while found := await db.query(some, {"before": to_iso(before)}):
        await db.batch([Step(drop, {"ids": as_list([row["id"] for row in found])})])
        dropped += len(found)
    return dropped


async def _count(db: Database, count: Select[Any], before: datetime) -> int:
    [row] = await db.query(count, {"before": to_iso(before)})
    return int(row["found"])


async def drop_empty_subscriptions(db: Database) -> int:
    """Ends the subscriptions to merged feeds that have no entries left; returns their number."""
    [dropped] = await db.batch([Step(DROP_EMPTY)])
    return dropped
