"""What runs now, what waits and what failed lately."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Integer, bindparam, func, or_, select

from feedmill.i18n.messages import Message, message_or_none
from feedmill.model.batch import Batch
from feedmill.model.feed import Feed, without_owner
from feedmill.model.refresh import SUCCESSFUL_OUTCOMES
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.database import Database
from feedmill.store.feeds.claims import LEASE, is_free
from feedmill.store.feeds.read_feeds import to_feed
from feedmill.store.jobs.batches import read_batch
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
    .where(*(fetch_log.c.outcome != word for word in SUCCESSFUL_OUTCOMES), fetch_log.c.at >= bindparam("since"))
    .order_by(fetch_log.c.at.desc())
    .limit(bindparam("most", type_=Integer))
)
# A claim is renewed while its job runs, so its end tells when it was last taken or renewed.
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


@dataclass(frozen=True, slots=True)
class FailedFetch:
    """A fetch that failed."""

    feed_id: int
    url: str
    at: datetime
    http_status: int | None
    message: Message | None


@dataclass(frozen=True, slots=True)
class WaitingHost:
    """The due feeds of one host that nobody has claimed; `since` is when the first of them was due."""

    host: str
    feeds: int
    since: datetime


async def running_feeds(db: Database, now: datetime, most: int) -> list[tuple[Feed, datetime]]:
    """The feeds that are being fetched, and when each was claimed or renewed; the longest-running first."""
    rows = await db.query(RUNNING_FEEDS, {"now": to_iso(now), "most": most})
    return [(to_feed(row), from_iso(row["claimed_until"]) - LEASE) for row in rows]


async def waiting_hosts(db: Database, now: datetime, most: int) -> list[WaitingHost]:
    """The hosts with due feeds, the longest-waiting first."""
    rows = await db.query(WAITING_HOSTS, {"now": to_iso(now), "most": most})
    return [WaitingHost(row["host"], row["feeds"], from_iso(row["since"])) for row in rows]


async def running_batches(db: Database, most: int) -> list[Batch]:
    """The running batches, the newest first."""
    found = [await read_batch(db, row["id"]) for row in await db.query(RUNNING, {"most": most})]
    return [batch for batch in found if batch is not None]


async def latest_failures(db: Database, since: datetime, most: int) -> list[FailedFetch]:
    """Fetches that failed since then, the latest first."""
    rows = await db.query(FAILURES, {"since": to_iso(since), "most": most})
    return [
        FailedFetch(
            row["feed_id"],
            without_owner(row["url"]),
            from_iso(row["at"]),
            row["http_status"],
            message_or_none(row["message"]),
        )
        for row in rows
    ]


async def count_open_deliveries(db: Database) -> dict[str, int]:
    """The number of pending and of dead webhook deliveries."""
    return {row["status"]: row["n"] for row in await db.query(DELIVERIES)}
