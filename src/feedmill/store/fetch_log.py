"""The fetch log of a feed: what each fetch came to."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, func, select

from feedmill.model.times import from_text, to_text
from feedmill.store.database import Database, Row
from feedmill.store.schema import feed_urls, fetch_log

# What a fetch may come to without being a failure.
SUCCESSES = ("updated", "not_modified", "same")

LATEST = (
    select(fetch_log)
    .where(fetch_log.c.feed_id == bindparam("feed_id"))
    .order_by(fetch_log.c.at.desc(), fetch_log.c.id.desc())
    .limit(bindparam("most"))
)
TALLY = (
    select(fetch_log.c.outcome, func.count().label("fetches"), func.sum(fetch_log.c.new_entries).label("new_entries"))
    .where(fetch_log.c.feed_id == bindparam("feed_id"), fetch_log.c.at >= bindparam("since"))
    .group_by(fetch_log.c.outcome)
)
FORMER = (
    select(feed_urls.c.url, feed_urls.c.until)
    .where(feed_urls.c.feed_id == bindparam("feed_id"))
    .order_by(feed_urls.c.until.desc())
)


@dataclass(frozen=True, slots=True)
class Fetch:
    """One line of the log."""

    at: datetime
    outcome: str
    http_status: int | None
    bytes: int
    ms: int
    new_entries: int
    revised_entries: int
    message: str | None

    @property
    def failed(self) -> bool:
        return self.outcome not in SUCCESSES


@dataclass(frozen=True, slots=True)
class Tally:
    """What the fetches of a time come to together."""

    fetches: int = 0
    failures: int = 0
    new_entries: int = 0


async def latest_fetches(db: Database, feed_id: int, most: int) -> list[Fetch]:
    """The last fetches, the newest first."""
    rows = await db.query(LATEST, {"feed_id": feed_id, "most": most})
    return [read_fetch(row) for row in rows]


def read_fetch(row: Row) -> Fetch:
    names = ("outcome", "http_status", "bytes", "ms", "new_entries", "revised_entries", "message")
    return Fetch(from_text(row["at"]), *(row[name] for name in names))


async def tally_fetches(db: Database, feed_id: int, since: datetime) -> Tally:
    rows = await db.query(TALLY, {"feed_id": feed_id, "since": to_text(since)})
    return Tally(
        fetches=sum(row["fetches"] for row in rows),
        failures=sum(row["fetches"] for row in rows if row["outcome"] not in SUCCESSES),
        new_entries=sum(int(row["new_entries"]) for row in rows),
    )


async def former_urls_of(db: Database, feed_id: int) -> list[tuple[str, datetime]]:
    """Where the feed was before, and until when; the last place first."""
    return [(row["url"], from_text(row["until"])) for row in await db.query(FORMER, {"feed_id": feed_id})]
