"""Deliveries of a webhook as its owner sees them: list, test, retry, prune."""

from datetime import datetime

from sqlalchemy import Integer, bindparam, select

from feedmill.i18n.messages import message_or_none
from feedmill.model.timestamps import datetime_or_none, from_iso, to_iso
from feedmill.model.webhook import Delivery, DeliveryStatus, WebhookEvent
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import deliveries

NO_FEED = 0

_of = deliveries.c
ADD = insert(deliveries, "webhook_id", "event", "feed_id", "next_attempt_at", "created_at")
_listed = select(deliveries).where(_of.webhook_id == bindparam("webhook"))
PAGE = _listed.where(_of.id < bindparam("before")).order_by(_of.id.desc()).limit(bindparam("most", type_=Integer))
ONE = _listed.where(_of.id == bindparam("delivery"))
NEWEST_TEST = _listed.where(_of.event == WebhookEvent.TEST).order_by(_of.id.desc()).limit(1)
_due_again = {
    "status": DeliveryStatus.PENDING,
    "attempts": 0,
    "next_attempt_at": bindparam("at"),
    "last_error": None,
    "finished_at": None,
}
RETRY = (
    deliveries.update()
    .where(
        _of.id == bindparam("delivery"), _of.webhook_id == bindparam("webhook"), _of.status != DeliveryStatus.PENDING
    )
    .values(_due_again)
)
RETRY_ALL_DEAD = deliveries.update().where(_of.status == DeliveryStatus.DEAD).values(_due_again)
PRUNE = deliveries.delete().where(_of.created_at < bindparam("before"))


async def add_test_delivery(db: Database, webhook_id: int, now: datetime) -> Delivery:
    """Adds a test delivery, which has no feed or entries."""
    at = to_iso(now)
    row = {
        "webhook_id": webhook_id,
        "event": WebhookEvent.TEST,
        "feed_id": NO_FEED,
        "next_attempt_at": at,
        "created_at": at,
    }
    await db.batch([Step(ADD, row)])
    [found] = await db.query(NEWEST_TEST, {"webhook": webhook_id})
    return to_delivery(found)


async def deliveries_of(db: Database, webhook_id: int, before: int, most: int) -> list[Delivery]:
    """The deliveries of a webhook, the latest first."""
    rows = await db.query(PAGE, {"webhook": webhook_id, "before": before, "most": most})
    return [to_delivery(row) for row in rows]


async def delivery_of(db: Database, webhook_id: int, delivery_id: int) -> Delivery | None:
    rows = await db.query(ONE, {"webhook": webhook_id, "delivery": delivery_id})
    return to_delivery(rows[0]) if rows else None


async def retry_delivery(db: Database, webhook_id: int, delivery_id: int, now: datetime) -> bool:
    """Makes a finished delivery due again; False when there is no such delivery."""
    values = {"webhook": webhook_id, "delivery": delivery_id, "at": to_iso(now)}
    return await db.batch([Step(RETRY, values)]) == [1]


async def prune_deliveries(db: Database, before: datetime) -> int:
    [pruned] = await db.batch([Step(PRUNE, {"before": to_iso(before)})])
    return pruned


def to_delivery(row: Row) -> Delivery:
    same = {name: row[name] for name in ("id", "webhook_id", "feed_id", "attempts", "http_status")}
    return Delivery(
        **same,
        last_error=message_or_none(row["last_error"]),
        event=WebhookEvent(row["event"]),
        status=DeliveryStatus(row["status"]),
        next_attempt_at=datetime_or_none(row["next_attempt_at"]),
        created_at=from_iso(row["created_at"]),
        finished_at=datetime_or_none(row["finished_at"]),
    )
