"""The queue of webhook deliveries: events are queued, taken with a lease, and their result recorded by the holder."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Integer, String, and_, bindparam, case, exists, func, or_, select
from sqlalchemy.sql.dml import Insert

from feedmill.i18n.messages import Message, message_to_stored
from feedmill.model.timestamps import iso_or_none, to_iso
from feedmill.model.webhook import PAUSE_AFTER, ClaimedDelivery, DeliveryFailed, DeliveryStatus, WebhookEvent
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, one_of
from feedmill.store.leases import Leases
from feedmill.store.schema import deliveries, subscriptions, webhooks
from feedmill.store.webhooks.deliveries import to_delivery

_event = select(
    webhooks.c.id,
    subscriptions.c.feed_id,
    bindparam("event"),
    bindparam("of_refresh"),
    bindparam("due_at"),
    bindparam("at"),
).join(subscriptions, subscriptions.c.user_id == webhooks.c.user_id)


def _queue(*which: ColumnElement[bool]) -> Insert:
    """Queues an event of a feed for the webhooks of its subscribers that want it."""
    # Locked until the batch ends: deleting a webhook meanwhile must not undo the refresh.
    wanting = _event.where(
        subscriptions.c.feed_id == bindparam("of_feed"),
        subscriptions.c.paused == 0,
        webhooks.c.paused == 0,
        webhooks.c.events.like(bindparam("named")),
        *which,
    ).with_for_update(read=True, key_share=True)
    columns = ["webhook_id", "feed_id", "event", "refresh_token", "next_attempt_at", "created_at"]
    return Insert(deliveries).from_select(columns, wanting).inline()


QUEUE_EVENT = _queue(or_(subscriptions.c.settings.is_(None), subscriptions.c.settings.not_like('%"notify":false%')))
# Whoever wrote a filter that notifies wants it, also of feeds whose other entries are not notified.
QUEUE_MATCHES = _queue(one_of(webhooks.c.user_id, "users"))

_of = deliveries.c
_due = and_(_of.status == DeliveryStatus.PENDING, _of.next_attempt_at <= bindparam("now"))
_number = func.row_number().over(partition_by=_of.webhook_id, order_by=(_of.next_attempt_at, _of.id))
_queues = (
    select(_of.id, _of.next_attempt_at, _number.label("number"))
    .join(webhooks, webhooks.c.id == _of.webhook_id)
    .where(_due, one_of(_of.webhook_id, "webhooks"), or_(webhooks.c.paused == 0, _of.event == WebhookEvent.TEST))
    .subquery("queues")
)
# At most some of each webhook, so that one with many deliveries does not delay the others.
WAITING = (
    select(_queues.c.id)
    .where(_queues.c.number <= bindparam("each", type_=Integer))
    .order_by(_queues.c.next_attempt_at, _queues.c.id)
    .limit(bindparam("most", type_=Integer))
)
CLAIMED = (
    select(deliveries, webhooks.c.user_id, webhooks.c.url, webhooks.c.secret)
    .join(webhooks, webhooks.c.id == _of.webhook_id)
    .order_by(_of.id)
)
LEASES = Leases(deliveries, _of.id, _due, WAITING, CLAIMED)
release_deliveries = LEASES.release

_claimed = (_of.id == bindparam("delivery"), _of.claim_token == bindparam("token"))
_freed: dict[str, Any] = {"claim_token": None, "attempts": _of.attempts + 1, "http_status": bindparam("answered")}
DELIVERED = (
    deliveries.update()
    .where(*_claimed)
    .values(
        status=DeliveryStatus.DELIVERED, next_attempt_at=None, last_error=None, finished_at=bindparam("at"), **_freed
    )
)
FAILED = (
    deliveries.update()
    .where(*_claimed)
    .values(status=bindparam("to"), next_attempt_at=bindparam("again_at"), last_error=bindparam("reason"))
    .values(finished_at=bindparam("ended_at"), **_freed)
)
DROPPED = (
    deliveries.update()
    .where(*_claimed)
    .values(status=DeliveryStatus.DROPPED, next_attempt_at=None, claim_token=None, finished_at=bindparam("at"))
)
# Runs before the delivery is settled: only who still holds its claim may change the state of the webhook.
_of_claimed = (webhooks.c.id == bindparam("webhook"), exists(select(_of.id).where(*_claimed)))
WEBHOOK_SUCCEEDED = (
    webhooks.update()
    .where(*_of_claimed)
    .values(consecutive_failures=0, last_error=None, last_success_at=bindparam("at"))
)
_failed_too_often = or_(webhooks.c.consecutive_failures + 1 >= PAUSE_AFTER, bindparam("is_gone", type_=Integer) == 1)
# The failures come last: MySQL uses the new value of a column that was set further left.
WEBHOOK_FAILED = (
    webhooks.update()
    .where(*_of_claimed)
    .ordered_values(
        (
            "last_error",
            case((_failed_too_often, bindparam("why_paused", type_=String)), else_=bindparam("reason", type_=String)),
        ),
        ("paused", case((_failed_too_often, 1), else_=webhooks.c.paused)),
        ("consecutive_failures", webhooks.c.consecutive_failures + 1),
    )
)
POSTPONE = (
    deliveries.update()
    .where(
        _of.webhook_id == bindparam("webhook"),
        _of.status == DeliveryStatus.PENDING,
        or_(_of.claim_token == bindparam("token"), _of.next_attempt_at <= bindparam("now")),
    )
    .values(claim_token=None, next_attempt_at=bindparam("again_at"))
)


async def take_deliveries(
    db: Database, webhook_ids: Sequence[int], now: datetime, most: int, each: int
) -> list[ClaimedDelivery]:
    """Claims due deliveries, at most `each` of one webhook; nobody else gets them until the lease ends.

    Only for webhooks whose addresses the caller holds (see `url_leases`).
    """
    token, rows = await LEASES.take(db, now, most=most, each=each, webhooks=as_list(list(webhook_ids)))
    return [_taken(row, token) for row in rows]


async def record_delivered(db: Database, taken: ClaimedDelivery, status: int, now: datetime) -> bool:
    """Records a delivery that arrived; False when the claim is lost."""
    values = _settling(taken, status) | {"at": to_iso(now)}
    _, settled = await db.batch([Step(WEBHOOK_SUCCEEDED, values), Step(DELIVERED, values)])
    return settled == 1


async def record_failed_delivery(db: Database, taken: ClaimedDelivery, failed: DeliveryFailed, now: datetime) -> bool:
    """Records a failed delivery, and pauses a webhook that has failed too often."""
    is_over = failed.again_at is None
    values = _settling(taken, failed.http_status) | {
        "reason": message_to_stored(failed.reason),
        "why_paused": message_to_stored(Message("webhook.paused", n=PAUSE_AFTER, reason=failed.reason)),
        "is_gone": int(failed.is_gone),
        "to": DeliveryStatus.DEAD if is_over else DeliveryStatus.PENDING,
        "again_at": iso_or_none(failed.again_at),
        "ended_at": to_iso(now) if is_over else None,
    }
    _, settled = await db.batch([Step(WEBHOOK_FAILED, values), Step(FAILED, values)])
    return settled == 1


async def record_dropped_delivery(db: Database, taken: ClaimedDelivery, now: datetime) -> None:
    """Records that the delivery has nothing to report any more."""
    await db.batch([Step(DROPPED, _settling(taken, None) | {"at": to_iso(now)})])


async def postpone_deliveries(db: Database, taken: ClaimedDelivery, until: datetime, now: datetime) -> None:
    """Postpones all pending deliveries of the webhook; this counts as no attempt."""
    values = {"webhook": taken.delivery.webhook_id, "token": taken.token}
    await db.batch([Step(POSTPONE, values | {"now": to_iso(now), "again_at": to_iso(until)})])


def _settling(taken: ClaimedDelivery, status: int | None) -> dict[str, Any]:
    delivery = taken.delivery
    return {"delivery": delivery.id, "webhook": delivery.webhook_id, "token": taken.token, "answered": status}


def _taken(row: Row, token: str) -> ClaimedDelivery:
    names = ("refresh_token", "user_id", "url", "secret")
    return ClaimedDelivery(to_delivery(row), token, **{name: row[name] for name in names})


def step_to_queue_event(event: WebhookEvent, feed_id: int, refresh_token: str, now: datetime) -> Step:
    """The step that queues an event of a feed for the webhooks of its subscribers that want it."""
    return Step(QUEUE_EVENT, _event_values(event, feed_id, refresh_token, now))


def steps_to_queue_matches(user_ids: Sequence[int], feed_id: int, refresh_token: str, now: datetime) -> list[Step]:
    """Queues what filters of these users matched, for their webhooks that want it."""
    values = _event_values(WebhookEvent.MATCHED_ENTRIES, feed_id, refresh_token, now)
    return [Step(QUEUE_MATCHES, values | {"users": as_list(list(user_ids))})] if user_ids else []


def _event_values(event: WebhookEvent, feed_id: int, refresh_token: str, now: datetime) -> dict[str, Any]:
    at, named = to_iso(now), f'%"{event}"%'
    return {"event": event, "of_feed": feed_id, "of_refresh": refresh_token, "due_at": at, "at": at, "named": named}
