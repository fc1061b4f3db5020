"""Counts what fails or waits too long, for the operator: jobs, deliveries, hosts that can't be reached."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, FromClause, and_, bindparam, func, or_, select

from feedmill.model.syndication.push import HubMode
from feedmill.model.timestamps import to_iso
from feedmill.store.admin.maintenance_tasks import ALWAYS, setting_name
from feedmill.store.database import Database
from feedmill.store.dialect import count_where
from feedmill.store.schema import (
    batches,
    feeds,
    fetch_log,
    filter_jobs,
    hub_subscriptions,
    image_tasks,
    instance_state,
    notification_targets,
    services,
    sessions,
    webhooks,
)

# Outcomes of fetches that may be the fault of our own network.
NOT_REACHED = ("dns", "connect", "timeout")
# Nearly always refused before a request is sent, which says nothing about the network.
NOT_ASKED = ("refused", "blocked")
# A hub may be away for a while; a subscription that was asked for so often is not confirmed for another reason.
HUB_ATTEMPTS = 3

WEBHOOKS = select(
    count_where(webhooks.c.paused == 1).label("paused"), count_where(webhooks.c.paused == 0).label("failing")
).where(webhooks.c.consecutive_failures > 0)
HOSTS = (
    select(feeds.c.host, count_where(and_(*(fetch_log.c.outcome != word for word in NOT_REACHED))).label("reached"))
    .select_from(fetch_log.join(feeds, feeds.c.id == fetch_log.c.feed_id))
    .where(fetch_log.c.at >= bindparam("since"), *(fetch_log.c.outcome != word for word in NOT_ASKED))
    .group_by(feeds.c.host)
)
MAINTENANCE = select(instance_state.c.name).where(
    instance_state.c.name.startswith(setting_name("")),
    instance_state.c.value < bindparam("before"),
    instance_state.c.value != ALWAYS,
)
SESSIONS = (
    select(sessions.c.user_id, sessions.c.address)
    .where(sessions.c.last_seen_at >= bindparam("since"), sessions.c.address.is_not(None))
    .distinct()
)
IMAGE_BYTES = select(func.coalesce(func.sum(image_tasks.c.size), 0).label("bytes"))


@dataclass(frozen=True, slots=True)
class FailingWebhooks:
    """Webhooks that were paused after failures, and those whose last delivery failed."""

    paused: int
    failing: int


async def failing_webhooks(db: Database) -> FailingWebhooks:
    [row] = await db.query(WEBHOOKS)
    return FailingWebhooks(int(row["paused"]), int(row["failing"]))


async def count_notification_targets(db: Database) -> int:
    return await _count(db, notification_targets, notification_targets.c.paused == 0)


async def failing_notification_targets(db: Database) -> int:
    target = notification_targets.c
    return await _count(db, notification_targets, target.last_error.is_not(None), target.paused == 0)


async def failing_services(db: Database) -> int:
    return await _count(db, services, services.c.last_error.is_not(None))


async def failing_hub_subscriptions(db: Database) -> int:
    """Subscriptions that a hub denies, or does not confirm, however often it is asked."""
    subscription = hub_subscriptions.c
    # Until it is asked again, after a week: what it denied has no lease, and is not being asked for.
    is_denied = and_(
        subscription.wanted == HubMode.SUBSCRIBE, subscription.asked.is_(None), subscription.lease_until.is_(None)
    )
    is_failing = or_(subscription.attempts >= HUB_ATTEMPTS, is_denied)
    return await _count(db, hub_subscriptions, subscription.last_error.is_not(None), is_failing)


async def failed_filter_jobs(db: Database) -> int:
    return await _count(db, filter_jobs, filter_jobs.c.status == "failed")


async def abandoned_batches(db: Database, before: datetime) -> int:
    """Running batches that no process has worked on since then."""
    return await _count(db, batches, batches.c.status == "running", batches.c.heartbeat_at < to_iso(before))


async def overdue_maintenance_tasks(db: Database, before: datetime) -> list[str]:
    """The maintenance tasks that were due before and have not run since."""
    rows = await db.query(MAINTENANCE, {"before": to_iso(before)})
    return sorted(row["name"].removeprefix(setting_name("")) for row in rows)


async def recently_reached_hosts(db: Database, since: datetime) -> dict[str, bool]:
    """The hosts that were asked since then, and whether one of the requests reached the host."""
    return {row["host"]: bool(row["reached"]) for row in await db.query(HOSTS, {"since": to_iso(since)})}


async def session_addresses(db: Database, since: datetime) -> set[tuple[int, str]]:
    """The users who were signed in since then, each with the addresses of the sessions."""
    return {(row["user_id"], row["address"]) for row in await db.query(SESSIONS, {"since": to_iso(since)})}


async def image_bytes(db: Database) -> int:
    [row] = await db.query(IMAGE_BYTES)
    return int(row["bytes"])


async def _count(db: Database, table: FromClause, *where: ColumnElement[bool]) -> int:
    [row] = await db.query(select(func.count().label("n")).select_from(table).where(*where))
    return int(row["n"])
