"""Measures storage usage of the instance and its largest feeds."""

from dataclasses import dataclass

from sqlalchemy import Integer, bindparam, func, select, union_all

from feedmill.model.feed import without_owner
from feedmill.store.admin.instance_overview import database_size
from feedmill.store.database import Database
from feedmill.store.schema import feeds, image_tasks, object_garbage, raw_bodies

FEEDS = select(func.count().label("feeds"), func.coalesce(func.sum(feeds.c.entry_count), 0).label("entries"))
RAW = select(func.count().label("n"), func.coalesce(func.sum(raw_bodies.c.size), 0).label("bytes"))
IMAGES = select(func.count().label("n"), func.coalesce(func.sum(image_tasks.c.size), 0).label("bytes")).where(
    image_tasks.c.status == "success"
)
GARBAGE = select(func.count().label("n")).select_from(object_garbage)
_kept = union_all(
    select(raw_bodies.c.feed_id, raw_bodies.c.size.label("raw"), (raw_bodies.c.size * 0).label("images")),
    select(image_tasks.c.feed_id, (image_tasks.c.size * 0).label("raw"), image_tasks.c.size.label("images")),
).subquery("kept")
_each = (
    select(
        _kept.c.feed_id,
        func.sum(_kept.c.raw).label("raw_bytes"),
        func.sum(_kept.c.images).label("image_bytes"),
        func.sum(_kept.c.raw + _kept.c.images).label("bytes"),
    )
    .group_by(_kept.c.feed_id)
    .order_by(func.sum(_kept.c.raw + _kept.c.images).desc())
    .limit(bindparam("most", type_=Integer))
    .subquery("each_feed")
)
LARGEST = (
    select(_each, feeds.c.url, feeds.c.title, feeds.c.own_title, feeds.c.entry_count)
    .select_from(_each.join(feeds, feeds.c.id == _each.c.feed_id))
    .order_by(_each.c.bytes.desc(), _each.c.feed_id)
)


@dataclass(frozen=True, slots=True)
class FeedStorageShare:
    """The storage usage of one feed."""

    feed_id: int
    url: str
    title: str | None
    entries: int
    raw_bytes: int
    image_bytes: int


@dataclass(frozen=True, slots=True)
class StorageUsage:
    """The storage usage of the instance. `database_bytes` is None where the database does not report it."""

    feeds: int
    entries: int
    raw_bodies: int
    raw_bytes: int
    images: int
    image_bytes: int
    objects_to_delete: int
    database_bytes: int | None
    largest: list[FeedStorageShare]


async def measure_storage_usage(db: Database, largest: int = 20) -> StorageUsage:
    [counted] = await db.query(FEEDS)
    [raw] = await db.query(RAW)
    [images] = await db.query(IMAGES)
    [garbage] = await db.query(GARBAGE)
    return StorageUsage(
        feeds=counted["feeds"],
        entries=int(counted["entries"]),
        raw_bodies=raw["n"],
        raw_bytes=int(raw["bytes"]),
        images=images["n"],
        image_bytes=int(images["bytes"]),
        objects_to_delete=garbage["n"],
        database_bytes=await database_size(db),
        largest=await _largest(db, largest),
    )


async def _largest(db: Database, most: int) -> list[FeedStorageShare]:
    return [
        FeedStorageShare(
            feed_id=row["feed_id"],
            url=without_owner(row["url"]),
            title=row["own_title"] or row["title"],
            entries=row["entry_count"],
            raw_bytes=int(row["raw_bytes"]),
            image_bytes=int(row["image_bytes"]),
        )
        for row in await db.query(LARGEST, {"most": most})
    ]
