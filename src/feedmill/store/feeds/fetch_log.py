"""The fetch log of a feed: time, outcome, HTTP status, bytes, milliseconds, new entries."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, func, or_, select

from feedmill.i18n.messages import Message, message_or_none, message_to_stored
from feedmill.model.entry_lists import ListPosition
from feedmill.model.refresh import SUCCESSFUL_OUTCOMES, FetchLogLine
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.schema import fetch_log

END_OF_TIME = "9999"

LATEST = (
    select(fetch_log)
    .where(fetch_log.c.feed_id == bindparam("feed_id"))
    .order_by(fetch_log.c.at.desc(), fetch_log.c.id.desc())
    .limit(bindparam("most"))
)
PAGE = LATEST.where(
    fetch_log.c.at <= bindparam("at"), or_(fetch_log.c.at < bindparam("at"), fetch_log.c.id < bindparam("before"))
)
TALLY = (
    select(fetch_log.c.outcome, func.count().label("fetches"), func.sum(fetch_log.c.new_entries).label("new_entries"))
    .where(fetch_log.c.feed_id == bindparam("feed_id"), fetch_log.c.at >= bindparam("since"))
    .group_by(fetch_log.c.outcome)
)
SET_MESSAGE = (
    fetch_log.update()
    .where(fetch_log.c.feed_id == bindparam("of_feed"), fetch_log.c.at == bindparam("of_time"))
    .values(message=bindparam("message"))
)


@dataclass(frozen=True, slots=True)
class FetchTally:
    """Totals of the fetches of a period."""

    fetches: int = 0
    failures: int = 0
    new_entries: int = 0


async def latest_fetches(db: Database, feed_id: int, most: int) -> list[FetchLogLine]:
    """The last fetches, the newest first."""
    rows = await db.query(LATEST, {"feed_id": feed_id, "most": most})
    return [to_fetch_log_line(row) for row in rows]


async def fetches_before(
    db: Database, feed_id: int, position: ListPosition | None, most: int
) -> list[tuple[ListPosition, FetchLogLine]]:
    """The fetches before that position in the log, the newest first, each with its own position."""
    at, before = (position.at, position.entry_id) if position else (END_OF_TIME, 0)
    rows = await db.query(PAGE, {"feed_id": feed_id, "at": at, "before": before, "most": most})
    return [(ListPosition(row["at"], row["id"]), to_fetch_log_line(row)) for row in rows]


def to_fetch_log_line(row: Row) -> FetchLogLine:
    names = ("outcome", "http_status", "bytes", "ms", "new_entries", "revised_entries")
    same = {name: row[name] for name in names}
    return FetchLogLine(from_iso(row["at"]), **same, message=message_or_none(row["message"]))


async def tally_fetches(db: Database, feed_id: int, since: datetime) -> FetchTally:
    rows = await db.query(TALLY, {"feed_id": feed_id, "since": to_iso(since)})
    return FetchTally(
        fetches=sum(row["fetches"] for row in rows),
        failures=sum(row["fetches"] for row in rows if row["outcome"] not in SUCCESSFUL_OUTCOMES),
        new_entries=sum(int(row["new_entries"]) for row in rows),
    )


def step_to_set_log_message(feed_id: int, at: datetime, message: Message) -> Step:
    """Follows the step that logs the fetch."""
    return Step(SET_MESSAGE, {"of_feed": feed_id, "of_time": to_iso(at), "message": message_to_stored(message)})
