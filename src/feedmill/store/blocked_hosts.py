"""Hosts that an admin blocked: feeds there rest and say why, until the block is lifted."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, bindparam, func, select

from feedmill.model.account import Actor
from feedmill.model.hosts import is_under
from feedmill.model.times import from_text, to_text
from feedmill.store.audit import write_down
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, insert_new, one_of
from feedmill.store.schema import blocked_hosts, feeds, users
from feedmill.store.subscribers import LEFT_ALONE, REST_ALL

WHY = "its host is blocked by an admin"
ALLOWED_AGAIN = "its host is not blocked any more"
KIND = "blocked"

NAMES = select(blocked_hosts.c.host)
_listed = select(blocked_hosts, users.c.name.label("user_name")).select_from(
    blocked_hosts.outerjoin(users, users.c.id == blocked_hosts.c.user_id)
)
PAGE = (
    _listed.where(blocked_hosts.c.host > bindparam("after"))
    .order_by(blocked_hosts.c.host)
    .limit(bindparam("most", type_=Integer))
)
ONE = _listed.where(blocked_hosts.c.host == bindparam("blocked"))
FEED_HOSTS = select(feeds.c.host, func.count().label("n")).group_by(feeds.c.host)

ADD = insert_new(blocked_hosts, "host", "at", "user_id")
DROP = blocked_hosts.delete().where(blocked_hosts.c.host == bindparam("blocked"))
_there = one_of(feeds.c.host, "hosts")
_resting: dict[str, Any] = {"next_fetch_at": None, "next_fetch_why": WHY, "last_error": WHY, "last_error_kind": KIND}
# Without its claim a refresh that runs now writes nothing.
REST = (
    feeds.update()
    .where(_there, feeds.c.next_fetch_at.is_not(None))
    .values(**_resting, claim_token=None, claimed_until=None)
)
# Only those that rest because of the block: what a person switched off, or nobody reads, stays as it is.
WAKE = (
    feeds.update()
    .where(_there, feeds.c.next_fetch_at.is_(None), feeds.c.last_error_kind == KIND, feeds.c.status != "disabled")
    .values(next_fetch_at=bindparam("due_at"), next_fetch_why=ALLOWED_AGAIN, last_error=None, last_error_kind=None)
)
FREE = feeds.update().where(_there).values(claim_token=None, claimed_until=None)


@dataclass(frozen=True, slots=True)
class BlockedHost:
    """A host that nobody asks, nor any below it. `user_name` is None when whoever blocked it is gone."""

    host: str
    at: datetime
    user_name: str | None


async def blocked_names(db: Database) -> frozenset[str]:
    return frozenset(row["host"] for row in await db.query(NAMES))


async def blocked_page(db: Database, after: str, most: int) -> list[BlockedHost]:
    """The blocked hosts, by name."""
    return [_read(row) for row in await db.query(PAGE, {"after": after, "most": most})]


async def read_blocked(db: Database, host: str) -> BlockedHost | None:
    rows = await db.query(ONE, {"blocked": host})
    return _read(rows[0]) if rows else None


async def feeds_under(db: Database, host: str, besides: Collection[str] = ()) -> dict[str, int]:
    """How many feeds come from the host and from each below it, but for those under one of `besides`."""
    found = {row["host"]: int(row["n"]) for row in await db.query(FEED_HOSTS)}
    return {name: n for name, n in found.items() if is_under(name, (host,)) and not is_under(name, besides)}


async def add_blocked(db: Database, host: str, by: Actor, now: datetime) -> int:
    """Blocks the host: the feeds there rest. How many of them did not before."""
    there = as_list(list(await feeds_under(db, host)))
    row = {"host": host, "at": to_text(now), "user_id": by.user_id}
    steps = [Step(ADD, row), Step(REST, {"hosts": there}), write_down(by, "host.block", host, now)]
    return (await db.batch(steps))[1]


async def drop_blocked(db: Database, host: str, by: Actor, now: datetime) -> int:
    """Lifts the block: the feeds that rest because of it, and of no other, are due at once. How many."""
    others = await blocked_names(db) - {host}
    there = as_list(list(await feeds_under(db, host, others)))
    steps = [
        Step(DROP, {"blocked": host}),
        Step(WAKE, {"hosts": there, "due_at": to_text(now)}),
        # One that was refused a moment ago would put the feed to rest.
        Step(FREE, {"hosts": there}),
        # Their last reader may have left meanwhile.
        Step(REST_ALL, {"why": LEFT_ALONE}),
        write_down(by, "host.unblock", host, now),
    ]
    return (await db.batch(steps))[1]


def _read(row: Row) -> BlockedHost:
    return BlockedHost(row["host"], from_text(row["at"]), row["user_name"])
