"""A fetch log for the past days, so that the pages on the health of feeds have something to show."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import fetch_log

DAYS = 14
EVERY_HOURS = 4


async def write_fetch_history(db: Database, feed_ids: Sequence[int], now: datetime) -> None:
    """Writes what fetches of these feeds would have left: mostly nothing new, sometimes entries or a failure."""
    hours = range(DAYS * 24, 0, -EVERY_HOURS)
    lines = [_line(feed_id, now - timedelta(hours=ago), ago + 3 * feed_id) for feed_id in feed_ids for ago in hours]
    await db.batch([Step(insert(fetch_log, *lines[0]), lines)])


def _line(feed_id: int, at: datetime, turn: int) -> dict[str, Any]:
    line = {"feed_id": feed_id, "at": to_iso(at), "revised_entries": 0, "new_entries": 0, "message": None}
    if turn % 31 == 0:
        unavailable = "HTTP 503 Service Unavailable"
        return line | {"outcome": "http_5xx", "http_status": 503, "bytes": 0, "ms": 2100, "message": unavailable}
    if turn % 5 == 0:
        found = {"new_entries": 1 + turn % 3, "bytes": 18_000 + turn * 31, "ms": 120 + turn % 7 * 30}
        return line | {"outcome": "updated", "http_status": 200} | found
    return line | {"outcome": "not_modified", "http_status": 304, "bytes": 300, "ms": 40 + turn % 11 * 9}
