"""Records images that are in the object store but not in the database."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, select

from feedmill.model.image import ImageStatus, ImageType
from feedmill.model.timestamps import to_iso
from feedmill.store.archive.image_tasks import IS_NOT_GARBAGE, RELEASED
from feedmill.store.database import Database, Step
from feedmill.store.schema import entries, image_tasks

UNFETCHED = (
    select(image_tasks.c.id, image_tasks.c.feed_id, image_tasks.c.position, entries.c.guid)
    .join(entries, entries.c.id == image_tasks.c.entry_id)
    .where(image_tasks.c.feed_id == bindparam("feed_id"), image_tasks.c.status != ImageStatus.SUCCESS)
    .order_by(image_tasks.c.id)
)


FOUND = (
    image_tasks.update()
    .where(image_tasks.c.id == bindparam("task_id"), image_tasks.c.status != ImageStatus.SUCCESS, IS_NOT_GARBAGE)
    .values(status=ImageStatus.SUCCESS, next_attempt_at=None, last_error=None, object_key=bindparam("key"))
    .values(content_type=bindparam("content_type"), size=bindparam("size"), sha256=bindparam("sha256"), **RELEASED)
)


@dataclass(frozen=True, slots=True)
class UnfetchedImage:
    """An image task of a feed whose image is not stored, with the guid of its entry."""

    id: int
    feed_id: int
    guid: str
    position: int


async def unfetched_images(db: Database, feed_id: int) -> list[UnfetchedImage]:
    """The images of a feed that are not stored."""
    return [UnfetchedImage(**row) for row in await db.query(UNFETCHED, {"feed_id": feed_id})]


async def record_image_found(
    db: Database, task_id: int, key: str, type: ImageType, size: int, sha256: str, now: datetime
) -> bool:
    """Records an image that is stored under `key` already; raises `ConstraintViolated` if another task has it."""
    values = {
        "task_id": task_id,
        "key": key,
        "now": to_iso(now),
        "content_type": type.content_type,
        "size": size,
        "sha256": sha256,
    }
    return await db.batch([Step(FOUND, values)]) == [1]
