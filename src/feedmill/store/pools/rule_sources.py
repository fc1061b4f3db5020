"""The feeds and folders that the rule of a pool group can name."""

from collections.abc import Sequence

import msgspec
from sqlalchemy import select

from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import feeds

EXISTING = select(feeds.c.id).where(one_of(feeds.c.id, "ids"))
FOLDERS = select(feeds.c.folder).where(feeds.c.folder.is_not(None)).distinct()


async def missing_feed_ids(db: Database, ids: Sequence[int]) -> list[int]:
    """Those of these ids that no feed has."""
    existing = {row["id"] for row in await db.query(EXISTING, {"ids": as_list(list(ids))})}
    return [feed_id for feed_id in ids if feed_id not in existing]


async def operator_folders(db: Database) -> list[tuple[str, ...]]:
    """The folders of feeds that the operator or the feeds file chose; users have folders of their own."""
    return [tuple(msgspec.json.decode(row["folder"], type=list[str])) for row in await db.query(FOLDERS)]
