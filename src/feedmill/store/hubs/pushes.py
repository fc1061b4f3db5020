"""What hubs pushed: stored before the hub is answered, taken with a lease, and done in the batch of the refresh."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, bindparam, func, select

from feedmill.i18n.messages import Message, message_to_stored
from feedmill.model.refresh import Schedule
from feedmill.model.syndication.push import HubSubscription
from feedmill.model.timestamps import from_iso, iso_or_none, to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert_new
from feedmill.store.hubs.subscriptions import to_subscription
from feedmill.store.leases import Leases
from feedmill.store.schema import feeds, hub_pushes, hub_subscriptions

_of = hub_pushes.c
ADD = insert_new(
    hub_pushes,
    "hub_subscription_id",
    "body_sha256",
    "object_key",
    "body_bytes",
    "headers",
    "content_type",
    "received_at",
    "next_attempt_at",
)
KNOWN = select(_of.id).where(
    _of.hub_subscription_id == bindparam("subscription_id"), _of.body_sha256 == bindparam("sha256")
)
_recent = (_of.hub_subscription_id == bindparam("subscription_id"), _of.received_at >= bindparam("since"))
COUNT_RECENT = select(func.count().label("n")).where(*_recent)
SUM_RECENT = select(func.coalesce(func.sum(_of.body_bytes), 0).label("n")).where(*_recent)
_due = _of.next_attempt_at <= bindparam("now")
WAITING = select(_of.id).where(_due).order_by(_of.next_attempt_at, _of.id).limit(bindparam("most", type_=Integer))
CLAIMED = (
    select(hub_subscriptions, *(column.label(f"push_{column.name}") for column in _of))
    .select_from(hub_pushes.join(hub_subscriptions, hub_subscriptions.c.id == _of.hub_subscription_id))
    .order_by(_of.id)
)
LEASES = Leases(hub_pushes, _of.id, _due, WAITING, CLAIMED, attempts=_of.attempts)
release_pushes = LEASES.release
_claimed = (_of.id == bindparam("push_id"), _of.claim_token == bindparam("token"))
DONE = hub_pushes.update().where(*_claimed).values(next_attempt_at=None, claim_token=None)
POSTPONED = (
    hub_pushes.update().where(*_claimed).values(attempts=0, next_attempt_at=bindparam("again_at"), claim_token=None)
)
PUSHED = (
    hub_subscriptions.update()
    .where(hub_subscriptions.c.id == bindparam("subscription_id"))
    .values(last_push_at=bindparam("at"))
)
# Only a feed that is due by itself: one at rest stays so.
IS_PUSHED = (
    feeds.update()
    .where(feeds.c.id == bindparam("feed_id"), feeds.c.next_fetch_at.is_not(None))
    .values(pushed_until=bindparam("lease_until"), next_fetch_at=bindparam("next_at"), next_fetch_why=bindparam("why"))
)
FETCH_INSTEAD = (
    feeds.update()
    .where(feeds.c.id == bindparam("feed_id"), feeds.c.next_fetch_at > bindparam("at"))
    .where(feeds.c.consecutive_failures == 0)
    .values(next_fetch_at=bindparam("at"), next_fetch_why=message_to_stored(Message("schedule.push_given_up")))
)
PRUNE = hub_pushes.delete().where(_of.received_at < bindparam("before"), _of.next_attempt_at.is_(None))


@dataclass(frozen=True, slots=True)
class StoredPush:
    """A push that waits to be used. `sha256` is that of its body, which is stored under `object_key`.

    `attempts` counts how often it was taken, this time included, since it was last given back.
    """

    id: int
    subscription: HubSubscription
    sha256: str
    object_key: str
    headers: str
    content_type: str
    received_at: datetime
    attempts: int
    token: str


@dataclass(frozen=True, slots=True)
class NewPush:
    """A push with a body that is stored."""

    sha256: str
    object_key: str
    body_bytes: int
    headers: str
    content_type: str
    received_at: datetime


async def is_known_push(db: Database, subscription_id: int, sha256: str) -> bool:
    """Whether the hub has pushed these bytes before."""
    return bool(await db.query(KNOWN, {"subscription_id": subscription_id, "sha256": sha256}))


async def count_recent_pushes(db: Database, subscription_id: int, since: datetime) -> int:
    [row] = await db.query(COUNT_RECENT, {"subscription_id": subscription_id, "since": to_iso(since)})
    return int(row["n"])


async def count_recent_bytes(db: Database, subscription_id: int, since: datetime) -> int:
    [row] = await db.query(SUM_RECENT, {"subscription_id": subscription_id, "since": to_iso(since)})
    return int(row["n"])


async def add_push(db: Database, subscription_id: int, new: NewPush) -> None:
    """Adds a push that is due at once; one with the same bytes changes nothing."""
    at = to_iso(new.received_at)
    row = {
        "hub_subscription_id": subscription_id,
        "body_sha256": new.sha256,
        "object_key": new.object_key,
        "body_bytes": new.body_bytes,
        "headers": new.headers,
        "content_type": new.content_type,
        "received_at": at,
        "next_attempt_at": at,
    }
    await db.batch([Step(ADD, row)])


async def take_pushes(db: Database, now: datetime, most: int) -> tuple[str, list[StoredPush]]:
    """Claims pushes, the oldest first; nobody else gets them until the lease ends."""
    token, rows = await LEASES.take(db, now, most=most)
    return token, [_stored(row, token) for row in rows]


def steps_to_finish_push(push: StoredPush, now: datetime) -> list[Step]:
    """The steps that end a push, for the batch of the refresh that uses it."""
    return [
        Step(DONE, {"push_id": push.id, "token": push.token}),
        Step(PUSHED, {"subscription_id": push.subscription.id, "at": to_iso(now)}),
    ]


async def record_fetched_push(db: Database, push: StoredPush, lease_until: datetime, schedule: Schedule) -> None:
    """Records that the hub pushes, after a fetch that it caused. If this is lost, the feed is fetched more often."""
    values = {
        "feed_id": push.subscription.feed_id,
        "lease_until": to_iso(lease_until),
        "next_at": iso_or_none(schedule.at),
        "why": message_to_stored(schedule.why),
    }
    await db.batch([Step(IS_PUSHED, values)])


async def drop_push(db: Database, push: StoredPush) -> None:
    """Ends a push that no feed can use."""
    await db.batch([Step(DONE, {"push_id": push.id, "token": push.token})])


async def give_up_push(db: Database, push: StoredPush, now: datetime) -> None:
    """Ends a push that can't be used, and makes its feed due: what was pushed may be in the feed itself."""
    fetch = {"feed_id": push.subscription.feed_id, "at": to_iso(now)}
    await db.batch([Step(DONE, {"push_id": push.id, "token": push.token}), Step(FETCH_INSTEAD, fetch)])


async def postpone_push(db: Database, push: StoredPush, again_at: datetime) -> None:
    """Gives a push back until then."""
    values: dict[str, Any] = {"push_id": push.id, "token": push.token, "again_at": to_iso(again_at)}
    await db.batch([Step(POSTPONED, values)])


async def prune_pushes(db: Database, before: datetime) -> int:
    """Forgets pushes that were done before; how many there were."""
    [pruned] = await db.batch([Step(PRUNE, {"before": to_iso(before)})])
    return pruned


def _stored(row: Row, token: str) -> StoredPush:
    return StoredPush(
        id=row["push_id"],
        subscription=to_subscription(row),
        sha256=row["push_body_sha256"],
        object_key=row["push_object_key"],
        headers=row["push_headers"],
        content_type=row["push_content_type"],
        received_at=from_iso(row["push_received_at"]),
        attempts=row["push_attempts"],
        token=token,
    )
