"""Hosts that an administrator blocked; their feeds rest until the block is lifted."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, bindparam, func, select

from feedmill.i18n.messages import Message, message_to_stored
from feedmill.model.hosts import is_in_domains
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.model.user import Actor
from feedmill.store.admin.audit_log import step_to_audit
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, insert_new, one_of
from feedmill.store.feeds.apply_subscriber_settings import NO_SUBSCRIBERS_REASON, REST_ALL
from feedmill.store.schema import blocked_hosts, feeds, users

BLOCKED_HOST_REASON = Message("schedule.host_blocked")
UNBLOCKED_HOST_REASON = Message("schedule.host_unblocked")
BLOCKED_ERROR_KIND = "blocked"

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
_on_hosts = one_of(feeds.c.host, "hosts")
_resting: dict[str, Any] = {
    "next_fetch_at": None,
    "next_fetch_why": message_to_stored(BLOCKED_HOST_REASON),
    "last_error": message_to_stored(BLOCKED_HOST_REASON),
    "last_error_kind": BLOCKED_ERROR_KIND,
}
# The claims are removed, so that refreshes that run now write nothing.
REST = (
    feeds.update()
    .where(_on_hosts, feeds.c.next_fetch_at.is_not(None))
    .values(**_resting, claim_token=None, claimed_until=None)
)
# Only feeds that rest because of the block; disabled feeds and feeds without subscribers stay at rest.
WAKE = (
    feeds.update()
    .where(
        _on_hosts,
        feeds.c.next_fetch_at.is_(None),
        feeds.c.last_error_kind == BLOCKED_ERROR_KIND,
        feeds.c.status != "disabled",
    )
    .values(
        next_fetch_at=bindparam("due_at"),
        next_fetch_why=message_to_stored(UNBLOCKED_HOST_REASON),
        last_error=None,
        last_error_kind=None,
    )
)
RELEASE_CLAIMS = feeds.update().where(_on_hosts).values(claim_token=None, claimed_until=None)


@dataclass(frozen=True, slots=True)
class BlockedHost:
    """A host that is not fetched from, nor are its subdomains. `user_name` is None if the user was deleted."""

    host: str
    at: datetime
    user_name: str | None


async def blocked_host_names(db: Database) -> frozenset[str]:
    return frozenset(row["host"] for row in await db.query(NAMES))


async def blocked_hosts_page(db: Database, after: str, most: int) -> list[BlockedHost]:
    """The blocked hosts, by name."""
    return [_read(row) for row in await db.query(PAGE, {"after": after, "most": most})]


async def read_blocked_host(db: Database, host: str) -> BlockedHost | None:
    rows = await db.query(ONE, {"blocked": host})
    return _read(rows[0]) if rows else None


async def count_feeds_under_host(db: Database, host: str, excluded: Collection[str] = ()) -> dict[str, int]:
    """The number of feeds by host, for the host and its subdomains, without those under a host in `excluded`."""
    found = {row["host"]: int(row["n"]) for row in await db.query(FEED_HOSTS)}
    return {name: n for name, n in found.items() if is_in_domains(name, (host,)) and not is_in_domains(name, excluded)}


async def add_blocked_host(db: Database, host: str, by: Actor, now: datetime) -> int:
    """Blocks the host and puts its feeds to rest; how many were not at rest before."""
    hosts = as_list(list(await count_feeds_under_host(db, host)))
    row = {"host": host, "at": to_iso(now), "user_id": by.user_id}
    steps = [Step(ADD, row), Step(REST, {"hosts": hosts}), step_to_audit(by, "host.block", host, now)]
    return (await db.batch(steps))[1]


async def remove_blocked_host(db: Database, host: str, by: Actor, now: datetime) -> int:
    """Unblocks the host; feeds that rest because of this block alone are due at once. Returns their number."""
    others = await blocked_host_names(db) - {host}
    hosts = as_list(list(await count_feeds_under_host(db, host, others)))
    steps = [
        Step(DROP, {"blocked": host}),
        Step(WAKE, {"hosts": hosts, "due_at": to_iso(now)}),
        # A refresh that was refused a moment ago would put its feed to rest again.
        Step(RELEASE_CLAIMS, {"hosts": hosts}),
        # Some may have lost their last subscriber meanwhile.
        Step(REST_ALL, {"why": message_to_stored(NO_SUBSCRIBERS_REASON)}),
        step_to_audit(by, "host.unblock", host, now),
    ]
    return (await db.batch(steps))[1]


def _read(row: Row) -> BlockedHost:
    return BlockedHost(row["host"], from_iso(row["at"]), row["user_name"])
