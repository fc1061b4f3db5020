"""The images of one feed as a person looks through them, and those that are to be tried again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, bindparam, exists, func, select

from feedmill.model.image import ImageStatus
from feedmill.model.times import to_text
from feedmill.store.database import Database, Row, Step
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
    entries.c.title,
)
PAGE = (
    select(*_shown)
    .join(entries, entries.c.id == image_tasks.c.entry_id)
    .where(_of_feed, _of_status, image_tasks.c.id < bindparam("before"))
    .order_by(image_tasks.c.id.desc())
    .limit(bindparam("most", type_=Integer))
)
_AGAIN: Mapping[str, Any] = {"next_attempt_at": bindparam("at"), "updated_at": bindparam("at")}
_retry = (
    image_tasks.update()
    .where(image_tasks.c.status == ImageStatus.FAILED)
    .values(status=ImageStatus.PENDING, attempts=0, **_AGAIN)
)
_hurry = (
    image_tasks.update()
    .where(image_tasks.c.status == ImageStatus.PENDING, image_tasks.c.next_attempt_at > bindparam("at"))
    .values(**_AGAIN)
)
ALL_FAILED_AGAIN = _retry
RETRY, HURRY = _retry.where(_of_feed), _hurry.where(_of_feed)
_of_entries = one_of(image_tasks.c.entry_id, "entry_ids")
RETRY_SOME, HURRY_SOME = _retry.where(_of_entries), _hurry.where(_of_entries)

UNASKED = (
    select(entries.c.id)
    .where(
        entries.c.feed_id == bindparam("feed_id"), entries.c.in_feed == 1,
        ~exists().where(image_tasks.c.entry_id == entries.c.id),
    )
    .order_by(entries.c.sort_at.desc())
    .limit(bindparam("most", type_=Integer))
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ImageSum:
    images: int = 0
    bytes: int = 0


async def sum_images(db: Database, feed_id: int) -> dict[str, ImageSum]:
    """How many images of the feed are in each state, and how much room they take."""
    rows = await db.query(COUNTS, {"feed_id": feed_id})
    found = {row["status"]: ImageSum(row["images"], int(row["bytes"] or 0)) for row in rows}
    return {str(status): found.get(status, ImageSum()) for status in ImageStatus}


async def images_before(db: Database, feed_id: int, status: ImageStatus, before: int, most: int) -> list[Row]:
    """Images of the feed in that state with the titles of their entries, the newest first."""
    return await db.query(PAGE, {"feed_id": feed_id, "status": str(status), "before": before, "most": most})


async def retry_failed(db: Database, feed_id: int, now: datetime) -> int:
    """Lets the feed's failed images be tried anew; how many."""
    [changed] = await db.batch([Step(RETRY, {"feed_id": feed_id, "at": to_text(now)})])
    return changed


async def hurry_waiting(db: Database, feed_id: int, now: datetime) -> int:
    """Makes those due now that wait for their next attempt; how many."""
    [changed] = await db.batch([Step(HURRY, {"feed_id": feed_id, "at": to_text(now)})])
    return changed


def steps_to_try_now(entry_ids: Sequence[int], now: datetime) -> list[Step]:
    """The steps that make all images of these entries due that are not kept, also those that were given up."""
    params = {"entry_ids": as_list(list(entry_ids)), "at": to_text(now)}
    return [Step(RETRY_SOME, params), Step(HURRY_SOME, params)]


async def entries_without_images(db: Database, feed_id: int, most: int) -> list[int]:
    """Those in the feed of which no image was ever asked for, the newest first: most have none."""
    return [row["id"] for row in await db.query(UNASKED, {"feed_id": feed_id, "most": most})]
