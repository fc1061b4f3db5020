"""The queue of notifications: what waits for a target is taken together, with a lease on the target."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Integer, and_, bindparam, exists, or_, select
from sqlalchemy.sql.dml import Insert

from feedmill.i18n.messages import Message, message_to_stored
from feedmill.model.encrypted import Encrypted
from feedmill.model.notifications.notification_target import NotificationClaim, NotificationEvent, WaitingNotification
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, one_of
from feedmill.store.leases import Leases
from feedmill.store.schema import notification_targets, notifications, subscriptions, users

_of = notification_targets.c


def _queue(which: Any) -> Insert:
    """Queues an event of a feed for the targets of its subscribers that want it."""
    # Locked until the batch ends: deleting a target meanwhile must not undo the refresh.
    wanting = (
        select(_of.id, bindparam("event"), subscriptions.c.feed_id, bindparam("of_refresh"), bindparam("at"))
        .join(subscriptions, subscriptions.c.user_id == _of.user_id)
        .where(
            subscriptions.c.feed_id == bindparam("of_feed"),
            subscriptions.c.paused == 0,
            _of.paused == 0,
            _of.events.like(bindparam("named")),
            which,
        )
        .with_for_update(read=True, key_share=True)
    )
    columns = ["target_id", "event", "feed_id", "refresh_token", "created_at"]
    return Insert(notifications).from_select(columns, wanting).inline()


QUEUE_EVENT = _queue(or_(subscriptions.c.settings.is_(None), subscriptions.c.settings.not_like('%"notify":false%')))
# Whoever wrote a filter that notifies wants it, also of feeds whose other entries are not notified.
QUEUE_MATCHES = _queue(one_of(_of.user_id, "users"))

_is_test = notifications.c.event == NotificationEvent.TEST
_has_waiting = exists(
    select(notifications.c.id).where(notifications.c.target_id == _of.id, or_(_of.paused == 0, _is_test))
)
_due = and_(_of.next_attempt_at <= bindparam("now"), _has_waiting)
WAITING = select(_of.id).where(_due).order_by(_of.next_attempt_at, _of.id).limit(bindparam("most", type_=Integer))
CLAIMED = select(notification_targets, users.c.settings.label("user_settings")).join(users, users.c.id == _of.user_id)
LEASES = Leases(notification_targets, _of.id, _of.next_attempt_at <= bindparam("now"), WAITING, CLAIMED)
release_targets = LEASES.release

NOTIFICATIONS = (
    select(notifications)
    .where(notifications.c.target_id == bindparam("target"))
    .order_by(notifications.c.id)
    .limit(bindparam("most", type_=Integer))
)
_claimed = (_of.id == bindparam("target"), _of.claim_token == bindparam("token"))
# Runs before the target is settled: only who still holds its claim may delete.
DELETE_SENT = notifications.delete().where(
    notifications.c.target_id == bindparam("target"),
    one_of(notifications.c.id, "ids"),
    exists(select(_of.id).where(*_claimed)),
)
SENT = (
    notification_targets.update()
    .where(*_claimed)
    .values(claim_token=None, attempts=0, last_error=None)
    .values(next_attempt_at=bindparam("again_at"), last_success_at=bindparam("at"))
)
# What waits for it goes too.
GONE = notification_targets.delete().where(*_claimed)
NOTHING_SENT = notification_targets.update().where(*_claimed).values(claim_token=None, next_attempt_at=bindparam("at"))
FAILED = (
    notification_targets.update()
    .where(*_claimed)
    .values(claim_token=None, attempts=bindparam("new_attempts"), last_error=bindparam("reason"))
    .values(next_attempt_at=bindparam("again_at"))
)


def step_to_queue_event(event: str, feed_id: int, refresh_token: str, now: datetime) -> Step:
    """The step that queues an event of a feed for the targets of its subscribers that want it."""
    return Step(QUEUE_EVENT, _event(event, feed_id, refresh_token, now))


def steps_to_queue_matches(user_ids: Sequence[int], feed_id: int, refresh_token: str, now: datetime) -> list[Step]:
    """Queues what filters of these users notify of."""
    values = _event(NotificationEvent.MATCHED_ENTRIES, feed_id, refresh_token, now)
    return [Step(QUEUE_MATCHES, values | {"users": as_list(list(user_ids))})] if user_ids else []


def _event(event: str, feed_id: int, refresh_token: str, now: datetime) -> dict[str, Any]:
    key = {"event": event, "of_feed": feed_id, "of_refresh": refresh_token}
    return key | {"at": to_iso(now), "named": f'%"{event}"%'}


async def take_targets(db: Database, now: datetime, most: int) -> tuple[str, list[NotificationClaim]]:
    """Takes targets for which something waits; the token of the lease, and the targets."""
    token, rows = await LEASES.take(db, now, most=most)
    return token, [_claimed_target(row, token) for row in rows]


async def waiting_notifications(db: Database, target_id: int, most: int) -> list[WaitingNotification]:
    """What waits for a target, the oldest first."""
    return [_notification(row) for row in await db.query(NOTIFICATIONS, {"target": target_id, "most": most})]


async def record_sent(db: Database, taken: NotificationClaim, ids: Sequence[int], now: datetime) -> bool:
    """Deletes what was sent; nothing more is sent before the gap is over. False when the claim is lost."""
    values = _settling(taken, ids) | {"at": to_iso(now), "again_at": to_iso(now + taken.gap)}
    _, settled = await db.batch([Step(DELETE_SENT, values), Step(SENT, values)])
    return settled == 1


async def record_dropped(db: Database, taken: NotificationClaim, ids: Sequence[int], now: datetime) -> None:
    """Deletes what has nothing to say any more."""
    values = _settling(taken, ids) | {"at": to_iso(now)}
    await db.batch([Step(DELETE_SENT, values), Step(NOTHING_SENT, values)])


async def record_postponed(db: Database, taken: NotificationClaim, until: datetime) -> None:
    """Gives a target back without an attempt; it is due again then."""
    await db.batch([Step(NOTHING_SENT, _settling(taken, ()) | {"at": to_iso(until)})])


async def record_gone(db: Database, taken: NotificationClaim) -> bool:
    """Deletes a target that is no more, with what waits for it. False when the claim is lost."""
    return await db.batch([Step(GONE, _settling(taken, ()))]) == [1]


async def record_failed_attempt(db: Database, taken: NotificationClaim, reason: Message, again_at: datetime) -> bool:
    """Records a failed attempt; what waits is sent again then. False when the claim is lost."""
    return await _record_failure(db, taken, (), reason, taken.attempts + 1, again_at)


async def record_given_up(
    db: Database, taken: NotificationClaim, ids: Sequence[int], reason: Message, now: datetime
) -> bool:
    """Deletes what could not be sent. What comes later is tried anew. False when the claim is lost."""
    return await _record_failure(db, taken, ids, reason, 0, now + taken.gap)


async def _record_failure(
    db: Database, taken: NotificationClaim, given_up: Sequence[int], reason: Message, attempts: int, again_at: datetime
) -> bool:
    values = _settling(taken, given_up) | {
        "reason": message_to_stored(reason),
        "new_attempts": attempts,
        "again_at": to_iso(again_at),
    }
    _, settled = await db.batch([Step(DELETE_SENT, values), Step(FAILED, values)])
    return settled == 1


def _settling(taken: NotificationClaim, ids: Sequence[int]) -> dict[str, Any]:
    return {"target": taken.id, "token": taken.token, "ids": as_list(list(ids))}


def _claimed_target(row: Row, token: str) -> NotificationClaim:
    return NotificationClaim(
        row["id"],
        row["user_id"],
        row["user_settings"],
        row["scheme"],
        Encrypted(row["url"]),
        timedelta(minutes=row["gap_minutes"]),
        row["attempts"],
        token,
    )


def _notification(row: Row) -> WaitingNotification:
    entry_ids = msgspec.json.decode(row["entry_ids"] or "[]", type=tuple[int, ...])
    same = {name: row[name] for name in ("id", "feed_id", "refresh_token", "search_id")}
    return WaitingNotification(event=NotificationEvent(row["event"]), entry_ids=entry_ids, **same)
