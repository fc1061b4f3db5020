"""Statistics of hosts: feeds, failures, requests, bytes, and until when a host throttles us."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Integer, and_, bindparam, func, select

from feedmill.model.refresh import SUCCESSFUL_OUTCOMES
from feedmill.model.timestamps import datetime_or_none, from_iso, to_iso
from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, count_where, one_of
from feedmill.store.schema import feeds, fetch_log

_these = one_of(feeds.c.host, "hosts")
_failed = and_(*(fetch_log.c.outcome != word for word in SUCCESSFUL_OUTCOMES))
LOADS = (
    select(
        feeds.c.host,
        func.count().label("requests"),
        count_where(_failed).label("errors"),
        func.sum(fetch_log.c.bytes).label("bytes"),
    )
    .select_from(fetch_log.join(feeds, feeds.c.id == fetch_log.c.feed_id))
    .where(_these, fetch_log.c.at >= bindparam("since"))
    .group_by(feeds.c.host)
)
THROTTLED = (
    select(feeds.c.host, func.max(feeds.c.next_fetch_at).label("until"))
    .where(_these, feeds.c.last_error_kind == "throttled", feeds.c.next_fetch_at > bindparam("now"))
    .group_by(feeds.c.host)
)


@dataclass(frozen=True, slots=True)
class HostLoad:
    """Requests, failures and received bytes of the feeds of a host in a period."""

    requests: int = 0
    errors: int = 0
    bytes: int = 0


async def host_loads(db: Database, hosts: Sequence[str], since: datetime) -> dict[str, HostLoad]:
    """The loads by host, for hosts with requests since then."""
    rows = await db.query(LOADS, {"hosts": as_list(list(hosts)), "since": to_iso(since)})
    return {row["host"]: HostLoad(row["requests"], int(row["errors"]), int(row["bytes"])) for row in rows}


async def throttled_until(db: Database, hosts: Sequence[str], now: datetime) -> dict[str, datetime]:
    """By host, until when its feeds wait because the server answered 429 or 503."""
    rows = await db.query(THROTTLED, {"hosts": as_list(list(hosts)), "now": to_iso(now)})
    return {row["host"]: from_iso(row["until"]) for row in rows}


_is_failing = and_(feeds.c.consecutive_failures > 0, feeds.c.status != "disabled")


_hosts = (
    select(
        feeds.c.host,
        func.count().label("feeds"),
        count_where(_is_failing).label("failing"),
        func.max(feeds.c.last_fetched_at).label("last_fetched_at"),
        func.min(feeds.c.next_fetch_at).label("next_fetch_at"),
    )
    .group_by(feeds.c.host)
    .order_by(feeds.c.host)
)


HOSTS = _hosts.where(feeds.c.host > bindparam("after")).limit(bindparam("most", type_=Integer))


HOST = _hosts.where(feeds.c.host == bindparam("of_host"))


@dataclass(frozen=True, slots=True)
class HostSummary:
    """The feeds of one host in summary."""

    host: str
    feeds: int
    failing: int
    last_fetched_at: datetime | None
    next_fetch_at: datetime | None


async def hosts_page(db: Database, after: str, most: int) -> list[HostSummary]:
    """The hosts that feeds come from, by name."""
    return [_host(row) for row in await db.query(HOSTS, {"after": after, "most": most})]


async def read_host(db: Database, host: str) -> HostSummary | None:
    rows = await db.query(HOST, {"of_host": host})
    return _host(rows[0]) if rows else None


def _host(row: Row) -> HostSummary:
    return HostSummary(
        row["host"],
        row["feeds"],
        int(row["failing"]),
        datetime_or_none(row["last_fetched_at"]),
        datetime_or_none(row["next_fetch_at"]),
    )
