"""Statistics of feeds: archived bytes, entries per day and per hour."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import bindparam, func, literal_column, select, union_all

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import entries, image_tasks, raw_bodies

# Literals, because PostgreSQL takes a parameter in two places for two different values.
_hour = func.substr(entries.c.sort_at, literal_column("1"), literal_column("13"))
HOURLY = (
    select(_hour.label("hour"), func.count().label("entries"))
    .where(entries.c.feed_id == bindparam("feed_id"), entries.c.sort_at >= bindparam("since"))
    .group_by(_hour)
)

_kept = union_all(
    select(raw_bodies.c.feed_id, raw_bodies.c.size).where(one_of(raw_bodies.c.feed_id, "feed_ids")),
    select(image_tasks.c.feed_id, image_tasks.c.size).where(
        one_of(image_tasks.c.feed_id, "feed_ids"), image_tasks.c.status == "success"
    ),
).subquery("kept")
SIZES = select(_kept.c.feed_id, func.sum(_kept.c.size).label("bytes")).group_by(_kept.c.feed_id)
# Literals, for the same reason: GROUP BY would not match SELECT.
_day = func.substr(entries.c.sort_at, literal_column("1"), literal_column("10"))
DAYS = (
    select(entries.c.feed_id, _day.label("day"), func.count().label("n"))
    .where(one_of(entries.c.feed_id, "feed_ids"), entries.c.sort_at >= bindparam("since"))
    .group_by(entries.c.feed_id, _day)
)


async def archived_bytes_by_feed(db: Database, feed_ids: Sequence[int]) -> dict[int, int]:
    """By feed its archived bytes of raw bodies and images; feeds without any are left out."""
    rows = await db.query(SIZES, {"feed_ids": as_list(list(feed_ids))})
    return {row["feed_id"]: int(row["bytes"]) for row in rows}


async def entries_by_day(db: Database, feed_ids: Sequence[int], since: datetime) -> dict[int, dict[str, int]]:
    """By feed and day (`2026-03-05`) the number of entries; days without any are left out."""
    found: dict[int, dict[str, int]] = {}
    for row in await db.query(DAYS, {"feed_ids": as_list(list(feed_ids)), "since": to_iso(since)}):
        found.setdefault(row["feed_id"], {})[row["day"]] = row["n"]
    return found


async def entries_by_hour(db: Database, feed_id: int, since: datetime) -> dict[datetime, int]:
    """By the start of each hour the number of entries; hours without any are left out."""
    rows = await db.query(HOURLY, {"feed_id": feed_id, "since": to_iso(since)})
    return {datetime.fromisoformat(f"{row['hour']}:00").replace(tzinfo=UTC): row["entries"] for row in rows}
