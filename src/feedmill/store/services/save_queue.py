"""The queue of saves: taken with a lease, and their result recorded by the holder."""

from datetime import datetime
from typing import Any

from sqlalchemy import Integer, and_, bindparam, exists, func, or_, select

from feedmill.i18n.messages import message_to_stored
from feedmill.model.encrypted import Encrypted
from feedmill.model.services.save_service import ClaimedSave, SaveFailed, SaveStatus, ServiceKind
from feedmill.model.timestamps import iso_or_none, to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.leases import Leases
from feedmill.store.schema import service_saves, services
from feedmill.store.services.saves import to_save

_of = service_saves.c
_due = and_(_of.status == SaveStatus.PENDING, _of.next_attempt_at <= bindparam("now"))
_number = func.row_number().over(partition_by=_of.service_id, order_by=(_of.next_attempt_at, _of.id))
_queues = select(_of.id, _of.next_attempt_at, _number.label("number")).where(_due).subquery("queues")
# At most some of each service, so that one with many saves does not delay the others.
WAITING = (
    select(_queues.c.id)
    .where(_queues.c.number <= bindparam("each", type_=Integer))
    .order_by(_queues.c.next_attempt_at, _queues.c.id)
    .limit(bindparam("most", type_=Integer))
)
CLAIMED = (
    select(service_saves, services.c.user_id, services.c.kind, services.c.options)
    .join(services, services.c.id == _of.service_id)
    .order_by(_of.id)
)
LEASES = Leases(service_saves, _of.id, _due, WAITING, CLAIMED)
release_saves = LEASES.release

_claimed = (_of.id == bindparam("save"), _of.claim_token == bindparam("token"))
SAVED = (
    service_saves.update()
    .where(*_claimed)
    .values(status=SaveStatus.SAVED, next_attempt_at=None, last_error=None, finished_at=bindparam("at"))
    .values(claim_token=None, attempts=_of.attempts + 1, http_status=bindparam("answered"))
)
FAILED = (
    service_saves.update()
    .where(*_claimed)
    .values(status=bindparam("to"), next_attempt_at=bindparam("again_at"), last_error=bindparam("reason"))
    .values(finished_at=bindparam("ended_at"), claim_token=None, http_status=bindparam("answered"))
    .values(attempts=_of.attempts + bindparam("counted", type_=Integer))
)
# Runs before the save is settled: only who still holds its claim may change the state of the service.
_of_claimed = (services.c.id == bindparam("service"), exists(select(_of.id).where(*_claimed)))
SERVICE_SUCCEEDED = services.update().where(*_of_claimed).values(last_error=None, last_success_at=bindparam("at"))
SERVICE_FAILED = services.update().where(*_of_claimed).values(last_error=bindparam("reason"))
POSTPONE = (
    service_saves.update()
    .where(
        _of.service_id == bindparam("service"),
        _of.status == SaveStatus.PENDING,
        or_(_of.claim_token == bindparam("token"), _of.next_attempt_at <= bindparam("now")),
    )
    .values(claim_token=None, next_attempt_at=bindparam("again_at"))
)


async def take_saves(db: Database, now: datetime, most: int, each: int) -> tuple[str, list[ClaimedSave]]:
    """Takes due saves, at most `each` of a service; the token of the lease, and the saves."""
    token, rows = await LEASES.take(db, now, most=most, each=each)
    return token, [_claimed_save(row, token) for row in rows]


async def record_saved(db: Database, taken: ClaimedSave, status: int, now: datetime) -> bool:
    """Records that the service has the article; False when the claim is lost."""
    values = _settling(taken, status) | {"at": to_iso(now)}
    _, settled = await db.batch([Step(SERVICE_SUCCEEDED, values), Step(SAVED, values)])
    return settled == 1


async def record_failed_save(db: Database, taken: ClaimedSave, failed: SaveFailed, now: datetime) -> bool:
    """Records a failed attempt; False when the claim is lost."""
    is_over = failed.again_at is None
    values = _settling(taken, failed.http_status) | {
        "reason": message_to_stored(failed.reason),
        "to": SaveStatus.FAILED if is_over else SaveStatus.PENDING,
        "again_at": iso_or_none(failed.again_at),
        "ended_at": to_iso(now) if is_over else None,
        "counted": int(failed.counted),
    }
    _, settled = await db.batch([Step(SERVICE_FAILED, values), Step(FAILED, values)])
    return settled == 1


async def postpone_saves(db: Database, taken: ClaimedSave, until: datetime, now: datetime) -> None:
    """Postpones all waiting saves of the service; this counts as no attempt."""
    values = {"service": taken.save.service_id, "token": taken.token}
    await db.batch([Step(POSTPONE, values | {"now": to_iso(now), "again_at": to_iso(until)})])


def _settling(taken: ClaimedSave, status: int | None) -> dict[str, Any]:
    save = taken.save
    return {"save": save.id, "service": save.service_id, "token": taken.token, "answered": status}


def _claimed_save(row: Row, token: str) -> ClaimedSave:
    return ClaimedSave(to_save(row), token, row["user_id"], ServiceKind(row["kind"]), Encrypted(row["options"]))
