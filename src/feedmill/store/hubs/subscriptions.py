"""Our subscriptions at WebSub hubs: which feeds need one, what the hub confirms or denies."""

from datetime import datetime
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any

from sqlalchemy import and_, bindparam, exists, select

from feedmill.i18n.messages import Message, message_or_none, message_to_stored
from feedmill.model.feed import PRIVATE_URL_MARKER
from feedmill.model.syndication.push import HubMode, HubSubscription
from feedmill.model.timestamps import datetime_or_none, from_iso, to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert_new
from feedmill.store.literal_limits import literal_number
from feedmill.store.schema import feeds, hub_subscriptions

# Feeds that are looked at in one go.
CHUNK = 200

_of = hub_subscriptions.c
_is_pushable = and_(
    feeds.c.hub_url.is_not(None),
    feeds.c.topic_url.is_not(None),
    # A feed at rest has no readers.
    feeds.c.next_fetch_at.is_not(None),
    feeds.c.url.not_like(f"%{PRIVATE_URL_MARKER}%"),
)
_is_for_feed = and_(_of.feed_id == feeds.c.id, _of.hub_url == feeds.c.hub_url, _of.topic_url == feeds.c.topic_url)
MISSING = (
    select(feeds.c.id, feeds.c.hub_url, feeds.c.topic_url)
    .where(_is_pushable, ~exists().where(_is_for_feed, _of.wanted == HubMode.SUBSCRIBE))
    .order_by(feeds.c.id)
    .limit(literal_number(CHUNK))
)
ADD = insert_new(
    hub_subscriptions,
    "feed_id",
    "hub_url",
    "topic_url",
    "topic_hash",
    "callback_token",
    "next_attempt_at",
    "created_at",
)
# One that was to be ended, and whose feed has readers again.
RESUME = (
    hub_subscriptions.update()
    .where(
        _of.feed_id == bindparam("feed_id"),
        _of.topic_hash == bindparam("topic_hash"),
        _of.wanted == HubMode.UNSUBSCRIBE,
    )
    .values(wanted=HubMode.SUBSCRIBE, asked=None, attempts=0, next_attempt_at=bindparam("next_attempt_at"))
)
END_UNUSED = (
    hub_subscriptions.update()
    .where(_of.wanted == HubMode.SUBSCRIBE, ~exists().where(_is_for_feed, _is_pushable))
    .values(wanted=HubMode.UNSUBSCRIBE, asked=None, attempts=0, next_attempt_at=bindparam("at"))
)
END_ALL = (
    hub_subscriptions.update()
    .where(_of.wanted == HubMode.SUBSCRIBE)
    .values(wanted=HubMode.UNSUBSCRIBE, asked=None, attempts=0, next_attempt_at=bindparam("at"))
)
BY_CALLBACK = select(hub_subscriptions).where(_of.callback_token == bindparam("callback_token"))
OF_FEED = (
    select(hub_subscriptions)
    .where(_of.feed_id == bindparam("feed_id"), _of.wanted == HubMode.SUBSCRIBE)
    .order_by(_of.id.desc())
    .limit(literal_number(1))
)
_asked_for = (_of.id == bindparam("subscription_id"), _of.asked == bindparam("mode"))
# The old secret stays in `new_secret`: a push may be under way that was signed with it.
CONFIRMED = (
    hub_subscriptions.update()
    .where(*_asked_for, _of.new_secret == bindparam("confirmed_secret"))
    .ordered_values(
        ("secret", bindparam("confirmed_secret")),
        ("new_secret", bindparam("old_secret")),
        ("asked", None),
        ("attempts", 0),
        ("last_error", None),
        ("lease_until", bindparam("lease_until")),
        ("next_attempt_at", bindparam("again_at")),
        ("claim_token", None),
    )
)
ENDED = hub_subscriptions.delete().where(*_asked_for)
DENIED = (
    hub_subscriptions.update()
    .where(_of.id == bindparam("subscription_id"))
    .values(asked=None, lease_until=None, secret=None, new_secret=None)
    .values(last_error=bindparam("reason"), attempts=0, claim_token=None, next_attempt_at=bindparam("again_at"))
)
_is_pushed = and_(feeds.c.id == bindparam("feed_id"), feeds.c.pushed_until.is_not(None))
EXTEND = feeds.update().where(_is_pushed).values(pushed_until=bindparam("lease_until"))
STOPPED = (
    feeds.update()
    .where(_is_pushed)
    .values(
        pushed_until=None,
        next_fetch_at=bindparam("at"),
        next_fetch_why=bindparam("why"),
    )
)


async def add_missing_subscriptions(db: Database, now: datetime) -> int:
    """Adds subscriptions for feeds that have a hub, readers and no subscription; how many feeds there were."""
    rows = await db.query(MISSING)
    added = [_new_row(row, now) for row in rows]
    if added:
        await db.batch([Step(ADD, added), Step(RESUME, added)])
    return len(rows)


async def end_unused_subscriptions(db: Database, now: datetime) -> int:
    """Ends the subscriptions of feeds without readers, of deleted feeds and for former topics; how many there were."""
    [ended] = await db.batch([Step(END_UNUSED, {"at": to_iso(now)})])
    return ended


async def end_all_subscriptions(db: Database, now: datetime) -> int:
    """Ends all subscriptions, because pushes are turned off; how many there were."""
    [ended] = await db.batch([Step(END_ALL, {"at": to_iso(now)})])
    return ended


async def subscription_of_callback(db: Database, callback_token: str) -> HubSubscription | None:
    rows = await db.query(BY_CALLBACK, {"callback_token": callback_token})
    return to_subscription(rows[0]) if rows else None


async def subscription_of_feed(db: Database, feed_id: int) -> HubSubscription | None:
    """The subscription that is wanted for the feed, if there is one."""
    rows = await db.query(OF_FEED, {"feed_id": feed_id})
    return to_subscription(rows[0]) if rows else None


async def confirm_subscription(
    db: Database, confirmed: HubSubscription, lease_until: datetime, again_at: datetime
) -> bool:
    """Records that the hub confirmed what it was asked for; False if that was confirmed or replaced meanwhile."""
    values = {
        "subscription_id": confirmed.id,
        "mode": HubMode.SUBSCRIBE,
        "confirmed_secret": confirmed.new_secret,
        "old_secret": confirmed.secret,
        "lease_until": to_iso(lease_until),
        "again_at": to_iso(again_at),
    }
    extension = {"feed_id": confirmed.feed_id, "lease_until": to_iso(lease_until)}
    changed, _ = await db.batch([Step(CONFIRMED, values), Step(EXTEND, extension)])
    return changed == 1


async def drop_subscription(db: Database, ended: HubSubscription) -> None:
    """Deletes a subscription whose end the hub confirmed."""
    await db.batch([Step(ENDED, {"subscription_id": ended.id, "mode": HubMode.UNSUBSCRIBE})])


async def deny_subscription(
    db: Database, denied: HubSubscription, reason: Message, again_at: datetime, now: datetime
) -> None:
    """Records that the hub denied or ended the subscription. The feed is fetched at once, and as often as before."""
    values = {"subscription_id": denied.id, "reason": message_to_stored(reason), "again_at": to_iso(again_at)}
    await db.batch([Step(DENIED, values), step_to_stop_pushes(denied.feed_id, reason, now)])


def step_to_stop_pushes(feed_id: int, reason: Message, now: datetime) -> Step:
    """The step that makes a feed due that a hub pushed to, and no longer does."""
    why = message_to_stored(Message("schedule.push_stopped", reason=reason))
    return Step(STOPPED, {"feed_id": feed_id, "at": to_iso(now), "why": why})


def to_subscription(row: Row) -> HubSubscription:
    return HubSubscription(
        id=row["id"],
        feed_id=row["feed_id"],
        hub_url=row["hub_url"],
        topic_url=row["topic_url"],
        callback_token=row["callback_token"],
        secret=row["secret"],
        new_secret=row["new_secret"],
        wanted=HubMode(row["wanted"]),
        asked=HubMode(row["asked"]) if row["asked"] else None,
        lease_until=datetime_or_none(row["lease_until"]),
        last_push_at=datetime_or_none(row["last_push_at"]),
        attempts=row["attempts"],
        last_error=message_or_none(row["last_error"]),
        next_attempt_at=from_iso(row["next_attempt_at"]),
    )


def _new_row(row: Row, now: datetime) -> dict[str, Any]:
    hub_url, topic_url, at = row["hub_url"], row["topic_url"], to_iso(now)
    return {
        "feed_id": row["id"],
        "hub_url": hub_url,
        "topic_url": topic_url,
        "topic_hash": sha256(f"{hub_url}\n{topic_url}".encode()).hexdigest(),
        "callback_token": token_urlsafe(32),
        "next_attempt_at": at,
        "created_at": at,
    }
