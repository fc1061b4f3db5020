"""When a feed publishes: how many of its entries stand in each hour."""

from datetime import UTC, datetime

from sqlalchemy import bindparam, func, literal_column, select

from feedmill.model.times import to_text
from feedmill.store.database import Database
from feedmill.store.schema import entries

# Literal, because PostgreSQL takes the same parameter in two places for two different ones.
_hour = func.substr(entries.c.sort_at, literal_column("1"), literal_column("13"))
HOURLY = (
    select(_hour.label("hour"), func.count().label("entries"))
    .where(entries.c.feed_id == bindparam("feed_id"), entries.c.sort_at >= bindparam("since"))
    .group_by(_hour)
)


async def entries_by_hour(db: Database, feed_id: int, since: datetime) -> dict[datetime, int]:
    """By the beginning of each hour in which there is an entry, how many."""
    rows = await db.query(HOURLY, {"feed_id": feed_id, "since": to_text(since)})
    return {datetime.fromisoformat(f"{row['hour']}:00").replace(tzinfo=UTC): row["entries"] for row in rows}
