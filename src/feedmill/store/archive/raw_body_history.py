"""Lists the raw bodies of one feed for a reader, newest first, with how each was parsed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Integer, bindparam, select

from feedmill.model.raw_body import RawBodyDetails
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.database import Database, Row
from feedmill.store.schema import raw_bodies

_of_feed = raw_bodies.c.feed_id == bindparam("feed_id")
# By time and not by id: a body that was found in the object store later has a higher id than newer bodies.
BEFORE = (
    select(raw_bodies)
    .where(_of_feed, raw_bodies.c.fetched_at < bindparam("before"))
    .order_by(raw_bodies.c.fetched_at.desc(), raw_bodies.c.id.desc())
    .limit(bindparam("most", type_=Integer))
)
ONE = select(raw_bodies).where(_of_feed, raw_bodies.c.id == bindparam("body_id"))
END_OF_TIME = "9999"


async def raw_bodies_before(db: Database, feed_id: int, before: datetime | None, most: int) -> list[RawBodyDetails]:
    """The raw bodies of the feed before that time, or all; the newest first."""
    params = {"feed_id": feed_id, "before": to_iso(before) if before else END_OF_TIME, "most": most}
    return [_read(row) for row in await db.query(BEFORE, params)]


async def raw_body_of_feed(db: Database, feed_id: int, body_id: int) -> RawBodyDetails | None:
    """The raw body of that id, if it belongs to this feed."""
    rows = await db.query(ONE, {"feed_id": feed_id, "body_id": body_id})
    return _read(rows[0]) if rows else None


def _read(row: Row) -> RawBodyDetails:
    names = ("http_status", "size", "entry_count", "new_entries", "parse_result")
    values: dict[str, Any] = {name: row[name] for name in names}
    return RawBodyDetails(row["id"], row["key"], from_iso(row["fetched_at"]), content_type=_type(row), **values)


def _type(row: Row) -> str | None:
    headers: Mapping[str, str] = msgspec.json.decode(row["headers"]) if row["headers"] else {}
    return next((value for name, value in headers.items() if name.lower() == "content-type"), None)
