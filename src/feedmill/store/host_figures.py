"""What the fetches from each host came to, and how long its server wants to be left alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, bindparam, case, func, select

from feedmill.model.times import from_text, to_text
from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.fetch_log import SUCCESSES
from feedmill.store.schema import feeds, fetch_log

_these = one_of(feeds.c.host, "hosts")
_failed = and_(*(fetch_log.c.outcome != word for word in SUCCESSES))
LOADS = (
    select(
        feeds.c.host, func.count().label("requests"), func.sum(case((_failed, 1), else_=0)).label("errors"),
        func.sum(fetch_log.c.bytes).label("bytes"),
    )
    .select_from(fetch_log.join(feeds, feeds.c.id == fetch_log.c.feed_id))
    .where(_these, fetch_log.c.at >= bindparam("since"))
    .group_by(feeds.c.host)
)  # fmt: skip
TURNED_AWAY = (
    select(feeds.c.host, func.max(feeds.c.next_fetch_at).label("until"))
    .where(_these, feeds.c.last_error_kind == "throttled", feeds.c.next_fetch_at > bindparam("now"))
    .group_by(feeds.c.host)
)


@dataclass(frozen=True, slots=True)
class HostLoad:
    """How often feeds of a host were fetched in a time, how often that failed, and what came over the wire."""

    requests: int = 0
    errors: int = 0
    bytes: int = 0


async def host_loads(db: Database, hosts: Sequence[str], since: datetime) -> dict[str, HostLoad]:
    """By host, for those that were asked since then."""
    rows = await db.query(LOADS, {"hosts": as_list(list(hosts)), "since": to_text(since)})
    return {row["host"]: HostLoad(row["requests"], int(row["errors"]), int(row["bytes"])) for row in rows}


async def turned_away(db: Database, hosts: Sequence[str], now: datetime) -> dict[str, datetime]:
    """By host until when its feeds stay away, because the server asked for a rest (429, 503)."""
    rows = await db.query(TURNED_AWAY, {"hosts": as_list(list(hosts)), "now": to_text(now)})
    return {row["host"]: from_text(row["until"]) for row in rows}
