"""What webhooks were sent, as their owners see it."""

from datetime import datetime

from sqlalchemy import Integer, bindparam, select

from feedmill.model.times import from_text, moment_or_none, to_text
from feedmill.model.webhook import Delivery, DeliveryStatus, Event
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import deliveries

NO_FEED = 0

_of = deliveries.c
ADD = insert(deliveries, "webhook_id", "event", "feed_id", "next_attempt_at", "created_at")
_listed = select(deliveries).where(_of.webhook_id == bindparam("webhook"))
PAGE = (
    _listed.where(_of.id < bindparam("before")).order_by(_of.id.desc()).limit(bindparam("most", type_=Integer))
)  # fmt: skip
ONE = _listed.where(_of.id == bindparam("delivery"))
NEWEST_TEST = _listed.where(_of.event == Event.TEST).order_by(_of.id.desc()).limit(1)
_due_again = {
    "status": DeliveryStatus.PENDING, "attempts": 0, "next_attempt_at": bindparam("at"), "last_error": None,
    "finished_at": None,
}  # fmt: skip
AGAIN = (
    deliveries.update()
    .where(
        _of.id == bindparam("delivery"), _of.webhook_id == bindparam("webhook"), _of.status != DeliveryStatus.PENDING
    )
    .values(_due_again)
)
ALL_DEAD_AGAIN = deliveries.update().where(_of.status == DeliveryStatus.DEAD).values(_due_again)
PRUNE = deliveries.delete().where(_of.created_at < bindparam("before"))


async def add_test(db: Database, webhook_id: int, now: datetime) -> Delivery:
    """A delivery that tells of nothing."""
    at = to_text(now)
    row = {"webhook_id": webhook_id, "event": Event.TEST, "feed_id": NO_FEED, "next_attempt_at": at, "created_at": at}
    await db.batch([Step(ADD, row)])
    [found] = await db.query(NEWEST_TEST, {"webhook": webhook_id})
    return to_delivery(found)


async def deliveries_of(db: Database, webhook_id: int, before: int, most: int) -> list[Delivery]:
    """What a webhook was sent, the last first."""
    rows = await db.query(PAGE, {"webhook": webhook_id, "before": before, "most": most})
    return [to_delivery(row) for row in rows]


async def delivery_of(db: Database, webhook_id: int, delivery_id: int) -> Delivery | None:
    rows = await db.query(ONE, {"webhook": webhook_id, "delivery": delivery_id})
    return to_delivery(rows[0]) if rows else None


async def send_again(db: Database, webhook_id: int, delivery_id: int, now: datetime) -> bool:
    """Makes a delivery due that is over; False when there is none such."""
    values = {"webhook": webhook_id, "delivery": delivery_id, "at": to_text(now)}
    return await db.batch([Step(AGAIN, values)]) == [1]


async def prune_deliveries(db: Database, before: datetime) -> int:
    [pruned] = await db.batch([Step(PRUNE, {"before": to_text(before)})])
    return pruned


def to_delivery(row: Row) -> Delivery:
    same = {name: row[name] for name in ("id", "webhook_id", "feed_id", "attempts", "http_status", "last_error")}
    return Delivery(
        **same,
        event=Event(row["event"]),
        status=DeliveryStatus(row["status"]),
        next_attempt_at=moment_or_none(row["next_attempt_at"]),
        created_at=from_text(row["created_at"]),
        finished_at=moment_or_none(row["finished_at"]),
    )
