"""What fetches came to over a time, summed up: of one feed by outcome, and of all feeds that a person has."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, bindparam, func, select

from feedmill.model.times import to_text
from feedmill.store.database import Database
from feedmill.store.fetch_log import SUCCESSES, Fetch, read_fetch
from feedmill.store.schema import feeds, fetch_log, subscriptions

_of_feed = and_(fetch_log.c.feed_id == bindparam("feed_id"), fetch_log.c.at >= bindparam("since"))
BY_OUTCOME = (
    select(fetch_log.c.outcome, func.count().label("fetches"), func.sum(fetch_log.c.bytes).label("bytes"))
    .where(_of_feed)
    .group_by(fetch_log.c.outcome)
)
FAILURES = (
    select(fetch_log)
    .where(_of_feed, *(fetch_log.c.outcome != success for success in SUCCESSES))
    .order_by(fetch_log.c.at.desc(), fetch_log.c.id.desc())
    .limit(bindparam("most"))
)
_their_fetches = and_(fetch_log.c.feed_id == feeds.c.id, fetch_log.c.at >= bindparam("since"))
OF_USER = (
    select(
        feeds.c.id, feeds.c.rhythm_seconds, func.count(fetch_log.c.id).label("fetches"),
        func.coalesce(func.sum(fetch_log.c.bytes), 0).label("bytes"),
        func.coalesce(func.sum(fetch_log.c.ms), 0).label("ms"),
    )
    .select_from(
        subscriptions.join(feeds, feeds.c.id == subscriptions.c.feed_id).outerjoin(fetch_log, _their_fetches)
    )
    .where(subscriptions.c.user_id == bindparam("user_id"))
    .group_by(feeds.c.id, feeds.c.rhythm_seconds)
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class OutcomeSum:
    fetches: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Load:
    """What a feed cost in that time; `rhythm_seconds` is how far apart its entries are, None when nobody knows."""

    fetches: int
    bytes: int
    ms: int
    rhythm_seconds: int | None

    @property
    def usual_ms(self) -> float:
        return self.ms / self.fetches if self.fetches else 0


async def sum_by_outcome(db: Database, feed_id: int, since: datetime) -> dict[str, OutcomeSum]:
    rows = await db.query(BY_OUTCOME, {"feed_id": feed_id, "since": to_text(since)})
    return {row["outcome"]: OutcomeSum(row["fetches"], int(row["bytes"])) for row in rows}


async def failures_since(db: Database, feed_id: int, since: datetime, most: int) -> list[Fetch]:
    """The fetches that failed, the newest first."""
    rows = await db.query(FAILURES, {"feed_id": feed_id, "since": to_text(since), "most": most})
    return [read_fetch(row) for row in rows]


async def loads_of_user(db: Database, user_id: int, since: datetime) -> dict[int, Load]:
    """By feed, for every feed that the user subscribes to."""
    rows = await db.query(OF_USER, {"user_id": user_id, "since": to_text(since)})
    return {row["id"]: Load(row["fetches"], int(row["bytes"]), int(row["ms"]), row["rhythm_seconds"]) for row in rows}
