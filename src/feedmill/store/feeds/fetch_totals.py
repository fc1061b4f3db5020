"""Totals of the fetch log: of one feed by outcome, and of each feed of a user."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, bindparam, func, select

from feedmill.model.refresh import SUCCESSFUL_OUTCOMES, FetchLogLine
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database
from feedmill.store.feeds.fetch_log import to_fetch_log_line
from feedmill.store.schema import feeds, fetch_log, subscriptions

_of_feed = and_(fetch_log.c.feed_id == bindparam("feed_id"), fetch_log.c.at >= bindparam("since"))
BY_OUTCOME = (
    select(fetch_log.c.outcome, func.count().label("fetches"), func.sum(fetch_log.c.bytes).label("bytes"))
    .where(_of_feed)
    .group_by(fetch_log.c.outcome)
)
FAILURES = (
    select(fetch_log)
    .where(_of_feed, *(fetch_log.c.outcome != success for success in SUCCESSFUL_OUTCOMES))
    .order_by(fetch_log.c.at.desc(), fetch_log.c.id.desc())
    .limit(bindparam("most"))
)
_their_fetches = and_(fetch_log.c.feed_id == feeds.c.id, fetch_log.c.at >= bindparam("since"))
OF_USER = (
    select(
        feeds.c.id,
        feeds.c.usual_gap_seconds,
        func.count(fetch_log.c.id).label("fetches"),
        func.coalesce(func.sum(fetch_log.c.bytes), 0).label("bytes"),
        func.coalesce(func.sum(fetch_log.c.ms), 0).label("ms"),
    )
    .select_from(subscriptions.join(feeds, feeds.c.id == subscriptions.c.feed_id).outerjoin(fetch_log, _their_fetches))
    .where(subscriptions.c.user_id == bindparam("user_id"))
    .group_by(feeds.c.id, feeds.c.usual_gap_seconds)
)


@dataclass(frozen=True, slots=True)
class OutcomeTotals:
    fetches: int
    bytes: int


@dataclass(frozen=True, slots=True)
class FetchLoad:
    """The cost of a feed in a period; `usual_gap_seconds` is the usual time between entries, None if unknown."""

    fetches: int
    bytes: int
    ms: int
    usual_gap_seconds: int | None

    @property
    def usual_ms(self) -> float:
        return self.ms / self.fetches if self.fetches else 0


async def totals_by_outcome(db: Database, feed_id: int, since: datetime) -> dict[str, OutcomeTotals]:
    rows = await db.query(BY_OUTCOME, {"feed_id": feed_id, "since": to_iso(since)})
    return {row["outcome"]: OutcomeTotals(row["fetches"], int(row["bytes"])) for row in rows}


async def failures_since(db: Database, feed_id: int, since: datetime, most: int) -> list[FetchLogLine]:
    """The fetches that failed, the newest first."""
    rows = await db.query(FAILURES, {"feed_id": feed_id, "since": to_iso(since), "most": most})
    return [to_fetch_log_line(row) for row in rows]


async def fetch_loads_of_user(db: Database, user_id: int, since: datetime) -> dict[int, FetchLoad]:
    """The cost of each feed that the user subscribes to, by feed id."""
    rows = await db.query(OF_USER, {"user_id": user_id, "since": to_iso(since)})
    return {
        row["id"]: FetchLoad(row["fetches"], int(row["bytes"]), int(row["ms"]), row["usual_gap_seconds"])
        for row in rows
    }
