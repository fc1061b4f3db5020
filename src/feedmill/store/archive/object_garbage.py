"""The record of objects to delete from the object store, and which objects rows still refer to.

An object that is used again is taken off the record.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, exists, func, or_, select

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert_new, one_of
from feedmill.store.schema import feeds, image_tasks, object_garbage, raw_bodies

RECORD = insert_new(object_garbage, "key", "recorded_at")
_is_in_use = or_(
    exists().where(image_tasks.c.object_key == object_garbage.c.key),
    exists().where(raw_bodies.c.key == object_garbage.c.key),
)
UNLIST_USED = object_garbage.delete().where(one_of(object_garbage.c.id, "ids"), _is_in_use)
OLDEST = select(object_garbage.c.id).order_by(object_garbage.c.id).limit(bindparam("most"))
LISTED = (
    select(object_garbage.c.id, object_garbage.c.key)
    .where(one_of(object_garbage.c.id, "ids"))
    .order_by(object_garbage.c.id)
)
FORGET = object_garbage.delete().where(one_of(object_garbage.c.id, "ids"))
COUNT = select(func.count().label("objects")).select_from(object_garbage)
# The key is in the task's row before the object is written.
IMAGES_IN_USE = select(image_tasks.c.object_key).where(one_of(image_tasks.c.object_key, "keys"))
FEEDS_IN_USE = select(feeds.c.id).where(one_of(feeds.c.id, "ids"))


class GarbageObject(NamedTuple):
    id: int
    key: str


async def oldest_garbage(db: Database, most: int) -> list[GarbageObject] | None:
    """Up to `most` objects to delete; None when nothing is left. Keys that a row refers to again are left out."""
    found = await db.query(OLDEST, {"most": most})
    if not found:
        return None
    ids = {"ids": as_list([row["id"] for row in found])}
    await db.batch([Step(UNLIST_USED, ids)])
    return [GarbageObject(row["id"], row["key"]) for row in await db.query(LISTED, ids)]


async def remove_garbage_records(db: Database, garbage: Sequence[GarbageObject]) -> None:
    """Removes deleted objects from the record."""
    await db.batch([Step(FORGET, {"ids": as_list([one.id for one in garbage])})])


async def record_garbage(db: Database, keys: Sequence[str], now: datetime) -> None:
    """Adds objects to the record."""
    await db.batch([Step(RECORD, [{"key": key, "recorded_at": to_iso(now)} for key in keys])])


async def count_garbage(db: Database) -> int:
    [row] = await db.query(COUNT)
    return int(row["objects"])


async def image_keys_in_use(db: Database, keys: Sequence[str]) -> set[str]:
    """Those of these keys that an image task has."""
    return {row["object_key"] for row in await db.query(IMAGES_IN_USE, {"keys": as_list(list(keys))})}


async def feed_ids_in_use(db: Database, ids: Sequence[int]) -> set[int]:
    """Those of these ids that a feed has."""
    return {row["id"] for row in await db.query(FEEDS_IN_USE, {"ids": as_list(list(ids))})}
