"""Counts and deletes archived images of a feed's old entries, to free storage."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, func, select

from feedmill.model.image import ImageStatus
from feedmill.model.timestamps import to_iso
from feedmill.store.archive.feed_images import ImageTotals
from feedmill.store.archive.retention import LOCK_ENTRIES, is_labelled, is_starred_or_later
from feedmill.store.database import Database, Step
from feedmill.store.dialect import InsertNew, as_list, one_of
from feedmill.store.entries.entry_dates import entry_date
from feedmill.store.schema import entries, image_tasks, object_garbage

CHUNK_SIZE = 500

_is_archived = image_tasks.c.status == ImageStatus.SUCCESS
_is_old = and_(entry_date < bindparam("before"), ~is_starred_or_later, ~is_labelled)
_of_feed = and_(image_tasks.c.feed_id == bindparam("feed_id"), _is_archived, _is_old)
_with_entries = image_tasks.join(entries, entries.c.id == image_tasks.c.entry_id)
SUM = (
    select(func.count().label("images"), func.sum(image_tasks.c.size).label("bytes"))
    .select_from(_with_entries)
    .where(_of_feed)
)
SOME = select(image_tasks.c.entry_id).select_from(_with_entries).where(_of_feed).distinct().limit(CHUNK_SIZE)
_of_chunk = and_(
    one_of(image_tasks.c.entry_id, "ids"),
    _is_archived,
    image_tasks.c.entry_id.in_(select(entries.c.id).where(one_of(entries.c.id, "ids"), _is_old)),
)
TO_GARBAGE = InsertNew(object_garbage).from_select(
    ["key", "recorded_at"],
    select(image_tasks.c.object_key, bindparam("at")).where(_of_chunk, image_tasks.c.object_key.is_not(None)),
)
FORGET = image_tasks.delete().where(_of_chunk)


async def total_old_images(db: Database, feed_id: int, before: datetime) -> ImageTotals:
    """The number and bytes of archived images of entries from before then."""
    [row] = await db.query(SUM, {"feed_id": feed_id, "before": to_iso(before)})
    return ImageTotals(row["images"], int(row["bytes"] or 0))


async def drop_old_images(db: Database, feed_id: int, before: datetime, now: datetime) -> None:
    """Deletes them; their objects are deleted with the next purge."""
    which = {"feed_id": feed_id, "before": to_iso(before), "at": to_iso(now)}
    while chunk := await db.query(SOME, which):
        await db.batch(_steps(which | {"ids": as_list([row["entry_id"] for row in chunk])}))


def _steps(params: Mapping[str, Any]) -> list[Step]:
    return [Step(statement, params) for statement in (LOCK_ENTRIES, TO_GARBAGE, FORGET)]
