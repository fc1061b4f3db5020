"""Measures storage usage of the feeds that a user subscribes to."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, func, select

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import image_tasks, raw_bodies, subscriptions

_of_user = subscriptions.c.user_id == bindparam("user_id")
RAW = (
    select(raw_bodies.c.feed_id, func.count().label("n"), func.sum(raw_bodies.c.size).label("bytes"))
    .join(subscriptions, subscriptions.c.feed_id == raw_bodies.c.feed_id)
    .where(_of_user)
    .group_by(raw_bodies.c.feed_id)
)
IMAGES = (
    select(image_tasks.c.feed_id, func.count().label("n"), func.sum(image_tasks.c.size).label("bytes"))
    .join(subscriptions, subscriptions.c.feed_id == image_tasks.c.feed_id)
    .where(_of_user, image_tasks.c.status == "success")
    .group_by(image_tasks.c.feed_id)
)
RAW_SINCE = (
    select(func.count().label("n"), func.coalesce(func.sum(raw_bodies.c.size), 0).label("bytes"))
    .join(subscriptions, subscriptions.c.feed_id == raw_bodies.c.feed_id)
    .where(_of_user, raw_bodies.c.fetched_at >= bindparam("since"))
)
IMAGES_SINCE = (
    select(func.count().label("n"), func.coalesce(func.sum(image_tasks.c.size), 0).label("bytes"))
    .join(subscriptions, subscriptions.c.feed_id == image_tasks.c.feed_id)
    .where(_of_user, image_tasks.c.status == "success", image_tasks.c.created_at >= bindparam("since"))
)

_theirs = one_of(subscriptions.c.user_id, "user_ids")
RAW_OF_USERS = (
    select(subscriptions.c.user_id, func.sum(raw_bodies.c.size).label("bytes"))
    .join(raw_bodies, raw_bodies.c.feed_id == subscriptions.c.feed_id)
    .where(_theirs)
    .group_by(subscriptions.c.user_id)
)
IMAGES_OF_USERS = (
    select(subscriptions.c.user_id, func.sum(image_tasks.c.size).label("bytes"))
    .join(image_tasks, image_tasks.c.feed_id == subscriptions.c.feed_id)
    .where(_theirs, image_tasks.c.status == "success")
    .group_by(subscriptions.c.user_id)
)


@dataclass(frozen=True, slots=True)
class ArchiveSize:
    """The archived data of one feed."""

    bodies: int = 0
    raw_bytes: int = 0
    images: int = 0
    image_bytes: int = 0

    @property
    def bytes(self) -> int:
        return self.raw_bytes + self.image_bytes


async def archive_size_by_feed(db: Database, user_id: int) -> dict[int, ArchiveSize]:
    """The archived data by feed, for the user's feeds that have any."""
    raw = {row["feed_id"]: row for row in await db.query(RAW, {"user_id": user_id})}
    images = {row["feed_id"]: row for row in await db.query(IMAGES, {"user_id": user_id})}
    nothing = {"n": 0, "bytes": 0}
    pairs = {id: (raw.get(id, nothing), images.get(id, nothing)) for id in raw | images}
    return {
        id: ArchiveSize(xml["n"], int(xml["bytes"]), image["n"], int(image["bytes"] or 0))
        for id, (xml, image) in pairs.items()
    }


async def archive_size_since(db: Database, user_id: int, since: datetime) -> ArchiveSize:
    """The archived data of all the user's feeds that arrived since then."""
    params = {"user_id": user_id, "since": to_iso(since)}
    [raw], [images] = await db.query(RAW_SINCE, params), await db.query(IMAGES_SINCE, params)
    return ArchiveSize(raw["n"], int(raw["bytes"]), images["n"], int(images["bytes"]))


async def archived_bytes_by_user(db: Database, user_ids: Sequence[int]) -> dict[int, int]:
    """The archived bytes by user; a feed with several subscribers counts for each."""
    bytes_by_user = dict.fromkeys(user_ids, 0)
    for statement in (RAW_OF_USERS, IMAGES_OF_USERS):
        for row in await db.query(statement, {"user_ids": as_list(list(user_ids))}):
            bytes_by_user[row["user_id"]] += int(row["bytes"] or 0)
    return bytes_by_user
