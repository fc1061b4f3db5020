"""The index of raw bodies: adds, lists, counts and expires them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec
from sqlalchemy import bindparam, func, select

from feedmill.model.timestamps import from_iso, iso_or_none, to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import InsertNew, as_list, insert_new, one_of
from feedmill.store.schema import object_garbage, raw_bodies

CHUNK_SIZE = 1000

_columns = (raw_bodies.c.feed_id, raw_bodies.c.key, raw_bodies.c.fetched_at, raw_bodies.c.headers, raw_bodies.c.size)
OF_FEEDS = (
    select(*_columns).where(one_of(raw_bodies.c.feed_id, "feed_ids")).order_by(raw_bodies.c.fetched_at, raw_bodies.c.id)
)
INDEXED = select(raw_bodies.c.key).where(one_of(raw_bodies.c.key, "keys"))
ADD = insert_new(raw_bodies, "feed_id", "key", "fetched_at", "sha256", "size", "parse_result", "entry_count")
EXPIRED = (
    select(raw_bodies.c.id)
    .where(raw_bodies.c.fetched_at < bindparam("before"))
    .order_by(raw_bodies.c.fetched_at)
    .limit(CHUNK_SIZE)
)
TO_GARBAGE = InsertNew(object_garbage).from_select(
    ["key", "recorded_at"], select(raw_bodies.c.key, bindparam("at")).where(one_of(raw_bodies.c.id, "ids"))
)
DROP = raw_bodies.delete().where(one_of(raw_bodies.c.id, "ids"))
COUNT_EXPIRED = select(func.count().label("bodies")).where(raw_bodies.c.fetched_at < bindparam("before"))
WITH_BODIES = select(raw_bodies.c.feed_id).distinct().order_by(raw_bodies.c.feed_id)
COUNT = select(func.count().label("bodies")).where(
    raw_bodies.c.fetched_at >= bindparam("since"), raw_bodies.c.fetched_at < bindparam("until")
)
COUNT_OF = COUNT.where(one_of(raw_bodies.c.feed_id, "feed_ids"))
FIRST, LAST = "", "9999"


@dataclass(frozen=True, slots=True)
class StoredRawBody:
    """A raw body; `content_type` is None if unknown, `indexed` False if it is only in the object store."""

    feed_id: int
    key: str
    at: datetime
    size: int
    content_type: str | None = None
    indexed: bool = True


async def raw_bodies_of_feeds(db: Database, feed_ids: Sequence[int]) -> list[StoredRawBody]:
    """The raw bodies of these feeds, the oldest first."""
    return [_read(row) for row in await db.query(OF_FEEDS, {"feed_ids": as_list(list(feed_ids))})]


async def count_raw_bodies(
    db: Database, feed_ids: Sequence[int] | None, since: datetime | None, until: datetime | None
) -> int:
    """The number of raw bodies of that period, of these feeds or of all."""
    params = {"since": iso_or_none(since) or FIRST, "until": iso_or_none(until) or LAST}
    if feed_ids is None:
        [row] = await db.query(COUNT, params)
    else:
        [row] = await db.query(COUNT_OF, params | {"feed_ids": as_list(list(feed_ids))})
    return int(row["bodies"])


async def indexed_keys(db: Database, keys: Sequence[str]) -> set[str]:
    """Those of these keys that are in the index."""
    return {row["key"] for row in await db.query(INDEXED, {"keys": as_list(list(keys))})}


def step_to_add_raw_body(body: StoredRawBody, sha256: str, parse_result: str, entry_count: int) -> Step:
    """The step that adds a body to the index, unless it is there."""
    row = {
        "feed_id": body.feed_id,
        "key": body.key,
        "fetched_at": to_iso(body.at),
        "sha256": sha256,
        "size": body.size,
        "parse_result": parse_result,
        "entry_count": entry_count,
    }
    return Step(ADD, row)


async def feeds_with_raw_bodies(db: Database) -> list[int]:
    return [row["feed_id"] for row in await db.query(WITH_BODIES)]


async def count_expired_raw_bodies(db: Database, before: datetime) -> int:
    [row] = await db.query(COUNT_EXPIRED, {"before": to_iso(before)})
    return int(row["bodies"])


async def drop_expired_raw_bodies(db: Database, before: datetime, now: datetime) -> int:
    """Deletes the rows of bodies older than `before` and records their objects as garbage; how many there were."""
    dropped = 0
    while found := await db.query(EXPIRED, {"before": to_iso(before)}):
        chunk = {"ids": as_list([row["id"] for row in found]), "at": to_iso(now)}
        await db.batch([Step(TO_GARBAGE, chunk), Step(DROP, chunk)])
        dropped += len(found)
    return dropped


def _read(row: Row) -> StoredRawBody:
    headers: Mapping[str, str] = msgspec.json.decode(row["headers"]) if row["headers"] else {}
    types = [value for name, value in headers.items() if name.lower() == "content-type"]
    return StoredRawBody(row["feed_id"], row["key"], from_iso(row["fetched_at"]), row["size"], next(iter(types), None))
