"""Digests of what is new: when they are due, and what they tell of. Each is queued once."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Integer, bindparam, select
from sqlalchemy.sql.dml import Insert

from feedmill.model.notifications.notification_target import DigestPeriod, DueDigest, NotificationEvent
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list
from feedmill.store.schema import notification_targets, notifications, users

_of = notification_targets.c
DUE = (
    select(_of.id, _of.user_id, _of.digest, _of.next_digest_at, users.c.settings)
    .join(users, users.c.id == _of.user_id)
    .where(_of.next_digest_at <= bindparam("now"), _of.paused == 0)
    .order_by(_of.next_digest_at)
    .limit(bindparam("most", type_=Integer))
)
_is_due = (_of.id == bindparam("target"), _of.next_digest_at == bindparam("due_at"))
QUEUE = (
    Insert(notifications)
    .from_select(
        ["target_id", "event", "entry_ids", "created_at"],
        select(_of.id, bindparam("event"), bindparam("ids"), bindparam("at")).where(*_is_due),
    )
    .inline()
)
MOVE_ON = notification_targets.update().where(*_is_due).values(next_digest_at=bindparam("next_at"))


async def due_digests(db: Database, now: datetime, most: int) -> list[DueDigest]:
    """Targets whose digest is due, those that wait longest first."""
    return [_due(row) for row in await db.query(DUE, {"now": to_iso(now), "most": most})]


async def record_digest(
    db: Database, due: DueDigest, entry_ids: Sequence[int], next_at: datetime, now: datetime
) -> None:
    """Queues the digest, once; one without entries is left out. The next is due then."""
    key = {"target": due.target_id, "due_at": to_iso(due.due_at)}
    digest = {"event": NotificationEvent.DIGEST, "ids": as_list(list(entry_ids)), "at": to_iso(now)}
    queued = [Step(QUEUE, key | digest)] if entry_ids else []
    await db.batch([*queued, Step(MOVE_ON, key | {"next_at": to_iso(next_at)})])


def _due(row: Row) -> DueDigest:
    period = DigestPeriod(row["digest"])
    return DueDigest(row["id"], row["user_id"], row["settings"], period, from_iso(row["next_digest_at"]))
