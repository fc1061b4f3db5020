"""Which objects of the object store the database still refers to."""

from collections.abc import Sequence

from sqlalchemy import select

from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import feeds, image_tasks

# The key is in the task's row before the object is written.
IMAGES = select(image_tasks.c.object_key).where(one_of(image_tasks.c.object_key, "keys"))
FEEDS = select(feeds.c.id).where(one_of(feeds.c.id, "ids"))


async def image_keys_in_use(db: Database, keys: Sequence[str]) -> set[str]:
    return {row["object_key"] for row in await db.query(IMAGES, {"keys": as_list(list(keys))})}


async def feed_ids_in_use(db: Database, ids: Sequence[int]) -> set[int]:
    return {row["id"] for row in await db.query(FEEDS, {"ids": as_list(list(ids))})}
