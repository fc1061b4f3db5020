"""What runs, what waits and what went wrong lately; and how each host fares."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Integer, and_, bindparam, case, func, or_, select

from feedmill.model.feed import PRIVATE_MARK, Feed
from feedmill.model.times import from_text, moment_or_none, to_text
from feedmill.store.batches import Batch, read_batch
from feedmill.store.claims import LEASE, is_free
from feedmill.store.database import Database, Row
from feedmill.store.feeds import read_feed
from feedmill.store.fetch_log import SUCCESSES
from feedmill.store.schema import batches, deliveries, feeds, fetch_log

RUNNING = (
    select(batches.c.id)
    .where(batches.c.status == "running")
    .order_by(batches.c.id.desc())
    .limit(bindparam("most", type_=Integer))
)
FAILURES = (
    select(fetch_log.c.feed_id, fetch_log.c.at, fetch_log.c.http_status, fetch_log.c.message, feeds.c.url)
    .select_from(fetch_log.join(feeds, feeds.c.id == fetch_log.c.feed_id))
    .where(*(fetch_log.c.outcome != word for word in SUCCESSES), fetch_log.c.at >= bindparam("since"))
    .order_by(fetch_log.c.at.desc())
    .limit(bindparam("most", type_=Integer))
)
# A claim is renewed while its work goes on, so it was taken or renewed so long ago as is missing of its lease.
RUNNING_FEEDS = (
    select(feeds)
    .where(feeds.c.claim_token.is_not(None), feeds.c.claimed_until > bindparam("now"))
    .order_by(feeds.c.claimed_until, feeds.c.id)
    .limit(bindparam("most", type_=Integer))
)
WAITING_HOSTS = (
    select(feeds.c.host, func.count().label("feeds"), func.min(feeds.c.next_fetch_at).label("since"))
    .where(feeds.c.next_fetch_at <= bindparam("now"), is_free)
    .group_by(feeds.c.host)
    .order_by(func.min(feeds.c.next_fetch_at), feeds.c.host)
    .limit(bindparam("most", type_=Integer))
)
DELIVERIES = (
    select(deliveries.c.status, func.count().label("n"))
    .where(or_(deliveries.c.status == "pending", deliveries.c.status == "dead"))
    .group_by(deliveries.c.status)
)
_is_failing = and_(feeds.c.consecutive_failures > 0, feeds.c.status != "disabled")
_hosts = (
    select(
        feeds.c.host,
        func.count().label("feeds"),
        func.sum(case((_is_failing, 1), else_=0)).label("failing"),
        func.max(feeds.c.last_fetched_at).label("last_fetched_at"),
        func.min(feeds.c.next_fetch_at).label("next_fetch_at"),
    )
    .group_by(feeds.c.host)
    .order_by(feeds.c.host)
)
HOSTS = _hosts.where(feeds.c.host > bindparam("after")).limit(bindparam("most", type_=Integer))
HOST = _hosts.where(feeds.c.host == bindparam("of_host"))


@dataclass(frozen=True, slots=True)
class Failure:
    """A fetch that failed."""

    feed_id: int
    url: str
    at: datetime
    http_status: int | None
    message: str | None


@dataclass(frozen=True, slots=True)
class Host:
    """The feeds of one host, taken together."""

    host: str
    feeds: int
    failing: int
    last_fetched_at: datetime | None
    next_fetch_at: datetime | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """The feeds of one host that are due and that nobody has taken yet; `since` is when the first of them was due."""

    host: str
    feeds: int
    since: datetime


async def running_feeds(db: Database, now: datetime, most: int) -> list[tuple[Feed, datetime]]:
    """The feeds that are being fetched, and since when at least; the longest first."""
    rows = await db.query(RUNNING_FEEDS, {"now": to_text(now), "most": most})
    return [(read_feed(row), from_text(row["claimed_until"]) - LEASE) for row in rows]


async def waiting_hosts(db: Database, now: datetime, most: int) -> list[Waiting]:
    """The hosts whose turn is waited for, the longest first."""
    rows = await db.query(WAITING_HOSTS, {"now": to_text(now), "most": most})
    return [Waiting(row["host"], row["feeds"], from_text(row["since"])) for row in rows]


async def running_batches(db: Database, most: int) -> list[Batch]:
    """The batches that run, the newest first."""
    found = [await read_batch(db, row["id"]) for row in await db.query(RUNNING, {"most": most})]
    return [batch for batch in found if batch is not None]


async def latest_failures(db: Database, since: datetime, most: int) -> list[Failure]:
    """Fetches that failed since then, the latest first."""
    rows = await db.query(FAILURES, {"since": to_text(since), "most": most})
    return [
        Failure(
            row["feed_id"], row["url"].partition(PRIVATE_MARK)[0], from_text(row["at"]), row["http_status"],
            row["message"],
        )
        for row in rows
    ]  # fmt: skip


async def waiting_deliveries(db: Database) -> dict[str, int]:
    """How many calls of webhooks wait, and how many were given up."""
    return {row["status"]: row["n"] for row in await db.query(DELIVERIES)}


async def hosts_page(db: Database, after: str, most: int) -> list[Host]:
    """The hosts that feeds come from, by name."""
    return [_host(row) for row in await db.query(HOSTS, {"after": after, "most": most})]


async def read_host(db: Database, host: str) -> Host | None:
    rows = await db.query(HOST, {"of_host": host})
    return _host(rows[0]) if rows else None


def _host(row: Row) -> Host:
    return Host(
        row["host"], row["feeds"], int(row["failing"]), moment_or_none(row["last_fetched_at"]),
        moment_or_none(row["next_fetch_at"]),
    )  # fmt: skip
