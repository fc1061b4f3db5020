"""Looks up archived images."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, func, select

from feedmill.model.image import ImageStatus
from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import feeds, image_tasks

TOTAL_BYTES = select(func.coalesce(func.sum(image_tasks.c.size), 0).label("bytes")).where(
    image_tasks.c.status == ImageStatus.SUCCESS
)


BY_KEY = (
    select(image_tasks.c.size, image_tasks.c.sha256, feeds.c.url.label("feed_url"))
    .select_from(image_tasks.join(feeds, feeds.c.id == image_tasks.c.feed_id))
    .where(image_tasks.c.object_key == bindparam("key"), image_tasks.c.status == ImageStatus.SUCCESS)
)


ARCHIVED = select(image_tasks.c.entry_id, image_tasks.c.original_url, image_tasks.c.object_key).where(
    one_of(image_tasks.c.entry_id, "ids"), image_tasks.c.status == ImageStatus.SUCCESS
)


_archived = image_tasks.c
OF_ENTRIES = (
    select(_archived.entry_id, _archived.object_key, _archived.content_type, _archived.size)
    .where(one_of(_archived.entry_id, "ids"), _archived.status == ImageStatus.SUCCESS)
    .order_by(_archived.entry_id, _archived.position)
)


@dataclass(frozen=True, slots=True)
class ImageObject:
    """An image of an entry in the object store."""

    key: str
    content_type: str
    size: int


@dataclass(frozen=True, slots=True)
class StoredImage:
    """An image in the object store, and the URL of the feed that it came with."""

    size: int
    sha256: str
    feed_url: str


async def total_image_bytes(db: Database) -> int:
    """The size of all archived images in bytes."""
    [row] = await db.query(TOTAL_BYTES)
    return int(row["bytes"])


async def image_of_key(db: Database, key: str) -> StoredImage | None:
    """The image that is stored under the key."""
    rows = await db.query(BY_KEY, {"key": key})
    return StoredImage(**rows[0]) if rows else None


async def archived_image_keys(db: Database, entry_ids: Sequence[int]) -> dict[int, dict[str, str]]:
    """By entry, the keys of its archived images by their original URLs."""
    found: dict[int, dict[str, str]] = {entry_id: {} for entry_id in entry_ids}
    for row in await db.query(ARCHIVED, {"ids": as_list(list(entry_ids))}):
        found[row["entry_id"]][row["original_url"]] = row["object_key"]
    return found


async def images_of_entries(db: Database, entry_ids: Sequence[int]) -> dict[int, list[ImageObject]]:
    """By entry, its archived images in their order; entries without one are left out."""
    found: dict[int, list[ImageObject]] = {}
    for row in await db.query(OF_ENTRIES, {"ids": as_list(list(entry_ids))}):
        image = ImageObject(row["object_key"], row["content_type"] or "", row["size"] or 0)
        found.setdefault(row["entry_id"], []).append(image)
    return found
