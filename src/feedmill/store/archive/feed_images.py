"""Images of one feed by status: totals, pages, and retries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, bindparam, exists, func, select

from feedmill.i18n.messages import Message, message_or_none
from feedmill.model.image import ImageStatus
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import entries, image_tasks

_of_feed = image_tasks.c.feed_id == bindparam("feed_id")
_of_status = image_tasks.c.status == bindparam("status")
COUNTS = (
    select(image_tasks.c.status, func.count().label("images"), func.sum(image_tasks.c.size).label("bytes"))
    .where(_of_feed)
    .group_by(image_tasks.c.status)
)
_shown: tuple[Any, ...] = (
    *(image_tasks.c[name] for name in ("id", "entry_id", "original_url", "object_key", "size", "attempts")),
    image_tasks.c.last_error,
    image_tasks.c.next_attempt_at,
    entries.c.title.label("entry_title"),
)
PAGE = (
    select(*_shown)
    .join(entries, entries.c.id == image_tasks.c.entry_id)
    .where(_of_feed, _of_status, image_tasks.c.id < bindparam("before"))
    .order_by(image_tasks.c.id.desc())
    .limit(bindparam("most", type_=Integer))
)
_DUE_NOW: Mapping[str, Any] = {"next_attempt_at": bindparam("at"), "updated_at": bindparam("at")}
_retry = (
    image_tasks.update()
    .where(image_tasks.c.status == ImageStatus.FAILED)
    .values(status=ImageStatus.PENDING, attempts=0, **_DUE_NOW)
)
_make_due = (
    image_tasks.update()
    .where(image_tasks.c.status == ImageStatus.PENDING, image_tasks.c.next_attempt_at > bindparam("at"))
    .values(**_DUE_NOW)
)
RETRY_ALL_FAILED = _retry
RETRY, MAKE_DUE = _retry.where(_of_feed), _make_due.where(_of_feed)
_of_entries = one_of(image_tasks.c.entry_id, "entry_ids")
RETRY_SOME, MAKE_DUE_SOME = _retry.where(_of_entries), _make_due.where(_of_entries)

WITHOUT_IMAGES = (
    select(entries.c.id)
    .where(
        entries.c.feed_id == bindparam("feed_id"),
        entries.c.in_feed == 1,
        ~exists().where(image_tasks.c.entry_id == entries.c.id),
    )
    .order_by(entries.c.sort_at.desc())
    .limit(bindparam("most", type_=Integer))
)


@dataclass(frozen=True, slots=True)
class ImageTotals:
    images: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class FeedImageTask:
    """An image of a feed with the title of its entry; `object_key` may be reserved before the image is stored."""

    id: int
    entry_id: int
    entry_title: str | None
    original_url: str
    object_key: str | None
    size: int
    attempts: int
    last_error: Message | None
    next_attempt_at: str | None


async def image_totals(db: Database, feed_id: int) -> dict[str, ImageTotals]:
    """The number and bytes of the feed's images by status."""
    rows = await db.query(COUNTS, {"feed_id": feed_id})
    found = {row["status"]: ImageTotals(row["images"], int(row["bytes"] or 0)) for row in rows}
    return {str(status): found.get(status, ImageTotals()) for status in ImageStatus}


async def images_before(db: Database, feed_id: int, status: ImageStatus, before: int, most: int) -> list[FeedImageTask]:
    """Images of the feed with that status, and the titles of their entries; the newest first."""
    rows = await db.query(PAGE, {"feed_id": feed_id, "status": str(status), "before": before, "most": most})
    return [FeedImageTask(**{**row, "last_error": message_or_none(row["last_error"])}) for row in rows]


async def requeue_failed_images(db: Database, feed_id: int, now: datetime) -> int:
    """Makes the feed's failed images due again; how many."""
    [changed] = await db.batch([Step(RETRY, {"feed_id": feed_id, "at": to_iso(now)})])
    return changed


async def make_waiting_images_due(db: Database, feed_id: int, now: datetime) -> int:
    """Makes the feed's images due that wait for their next attempt; how many."""
    [changed] = await db.batch([Step(MAKE_DUE, {"feed_id": feed_id, "at": to_iso(now)})])
    return changed


def steps_to_retry_images(entry_ids: Sequence[int], now: datetime) -> list[Step]:
    """The steps that make all images of these entries due that are not archived, also failed ones."""
    params = {"entry_ids": as_list(list(entry_ids)), "at": to_iso(now)}
    return [Step(RETRY_SOME, params), Step(MAKE_DUE_SOME, params)]


async def entries_without_images(db: Database, feed_id: int, most: int) -> list[int]:
    """Entries in the feed without image tasks, the newest first. Most of them have no images."""
    return [row["id"] for row in await db.query(WITHOUT_IMAGES, {"feed_id": feed_id, "most": most})]
