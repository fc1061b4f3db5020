"""The outbox of webhooks: deliveries are taken with a lease and settled by who still has them."""

from datetime import datetime
from typing import Any

from sqlalchemy import Integer, String, and_, bindparam, case, exists, func, or_, select

from feedmill.model.times import text_or_none, to_text
from feedmill.model.webhook import PAUSE_AFTER, DeliveryStatus, Event, Taken, Undelivered
from feedmill.store.database import Database, Row, Step
from feedmill.store.delivery_log import to_delivery
from feedmill.store.leases import Leases
from feedmill.store.schema import deliveries, webhooks

_of = deliveries.c
_due = and_(_of.status == DeliveryStatus.PENDING, _of.next_attempt_at <= bindparam("now"))
_number = func.row_number().over(partition_by=_of.webhook_id, order_by=(_of.next_attempt_at, _of.id))
_queues = (
    select(_of.id, _of.next_attempt_at, _number.label("number"))
    .join(webhooks, webhooks.c.id == _of.webhook_id)
    .where(_due, or_(webhooks.c.paused == 0, _of.event == Event.TEST))
    .subquery("queues")
)
# Some of each webhook, so that one with many holds up no other.
WAITING = (
    select(_queues.c.id)
    .where(_queues.c.number <= bindparam("each", type_=Integer))
    .order_by(_queues.c.next_attempt_at, _queues.c.id)
    .limit(bindparam("most", type_=Integer))
)
MINE = (
    select(deliveries, webhooks.c.user_id, webhooks.c.url, webhooks.c.secret)
    .join(webhooks, webhooks.c.id == _of.webhook_id)
    .order_by(_of.webhook_id, _of.id)
)
LEASES = Leases(deliveries, _of.id, _due, WAITING, MINE)
let_go = LEASES.let_go

_mine = (_of.id == bindparam("delivery"), _of.claim_token == bindparam("token"))
_freed: dict[str, Any] = {"claim_token": None, "attempts": _of.attempts + 1, "http_status": bindparam("answered")}
DELIVERED = (
    deliveries.update()
    .where(*_mine)
    .values(
        status=DeliveryStatus.DELIVERED, next_attempt_at=None, last_error=None, finished_at=bindparam("at"), **_freed
    )
)
FAILED = (
    deliveries.update()
    .where(*_mine)
    .values(status=bindparam("to"), next_attempt_at=bindparam("again_at"), last_error=bindparam("reason"))
    .values(finished_at=bindparam("ended_at"), **_freed)
)
DROPPED = (
    deliveries.update()
    .where(*_mine)
    .values(status=DeliveryStatus.DROPPED, next_attempt_at=None, claim_token=None, finished_at=bindparam("at"))
)
# Before the delivery itself is settled: only who still has it may say how its webhook fares.
_of_mine = (webhooks.c.id == bindparam("webhook"), exists(select(_of.id).where(*_mine)))
WELL = (
    webhooks.update().where(*_of_mine).values(consecutive_failures=0, last_error=None, last_success_at=bindparam("at"))
)
_worn_out = or_(webhooks.c.consecutive_failures + 1 >= PAUSE_AFTER, bindparam("is_gone", type_=Integer) == 1)
# The failures last: MySQL reads a column that was set further left in its new value.
ILL = (
    webhooks.update()
    .where(*_of_mine)
    .ordered_values(
        (
            "last_error",
            case((_worn_out, bindparam("why_paused", type_=String)), else_=bindparam("reason", type_=String)),
        ),
        ("paused", case((_worn_out, 1), else_=webhooks.c.paused)),
        ("consecutive_failures", webhooks.c.consecutive_failures + 1),
    )
)
PUT_OFF = (
    deliveries.update()
    .where(
        _of.webhook_id == bindparam("webhook"),
        _of.status == DeliveryStatus.PENDING,
        or_(_of.claim_token == bindparam("token"), _of.next_attempt_at <= bindparam("now")),
    )
    .values(claim_token=None, next_attempt_at=bindparam("again_at"))
)


async def take_deliveries(db: Database, now: datetime, most: int, each: int) -> list[Taken]:
    """Some of what is due, at most `each` of one webhook; nobody else has them for the time of the lease."""
    token, rows = await LEASES.take(db, now, most=most, each=each)
    return [_taken(row, token) for row in rows]


async def settle_delivered(db: Database, taken: Taken, status: int, now: datetime) -> bool:
    """Says that it arrived; False when it is ours no more."""
    values = _settling(taken, status) | {"at": to_text(now)}
    _, settled = await db.batch([Step(WELL, values), Step(DELIVERED, values)])
    return settled == 1


async def settle_failed(db: Database, taken: Taken, failed: Undelivered, now: datetime) -> bool:
    """Says that it did not arrive, and pauses a webhook that has failed too often."""
    is_over = failed.again_at is None
    values = _settling(taken, failed.http_status) | {
        "reason": failed.reason,
        "why_paused": f"paused, after {PAUSE_AFTER} failures in a row or a 410: {failed.reason}",
        "is_gone": int(failed.is_gone),
        "to": DeliveryStatus.DEAD if is_over else DeliveryStatus.PENDING,
        "again_at": text_or_none(failed.again_at),
        "ended_at": to_text(now) if is_over else None,
    }
    _, settled = await db.batch([Step(ILL, values), Step(FAILED, values)])
    return settled == 1


async def settle_dropped(db: Database, taken: Taken, now: datetime) -> None:
    """Says that there is nothing left to tell."""
    await db.batch([Step(DROPPED, _settling(taken, None) | {"at": to_text(now)})])


async def put_off(db: Database, taken: Taken, until: datetime, now: datetime) -> None:
    """Has all that waits for this webhook wait until then; it counts as no try."""
    values = {"webhook": taken.delivery.webhook_id, "token": taken.token}
    await db.batch([Step(PUT_OFF, values | {"now": to_text(now), "again_at": to_text(until)})])


def _settling(taken: Taken, status: int | None) -> dict[str, Any]:
    delivery = taken.delivery
    return {"delivery": delivery.id, "webhook": delivery.webhook_id, "token": taken.token, "answered": status}


def _taken(row: Row, token: str) -> Taken:
    names = ("refresh_token", "user_id", "url", "secret")
    return Taken(to_delivery(row), token, **{name: row[name] for name in names})
