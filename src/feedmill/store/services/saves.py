"""Saves as their owner sees them: queue, list, retry."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Integer, bindparam, select

from feedmill.i18n.messages import message_or_none
from feedmill.model.services.save_service import SaveStatus, ServiceSave
from feedmill.model.timestamps import datetime_or_none, from_iso, to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, insert_selected, one_of
from feedmill.store.schema import entries, service_saves, services

_of = service_saves.c
# From the rows of service and entries, so that one that is deleted meanwhile does not undo the whole batch.
QUEUE = insert_selected(
    service_saves,
    select(
        services.c.id.label("service_id"),
        entries.c.id.label("entry_id"),
        bindparam("due_at").label("next_attempt_at"),
        bindparam("at").label("created_at"),
    )
    .select_from(services.join(entries, one_of(entries.c.id, "ids")))
    .where(services.c.id == bindparam("service")),
    "service_id",
    "entry_id",
    "next_attempt_at",
    "created_at",
)
# Until the batch ends: deleting a service meanwhile must not undo it.
LOCK_SERVICES = (
    select(services.c.id)
    .where(one_of(services.c.id, "services"))
    .order_by(services.c.id)
    .with_for_update(read=True, key_share=True)
)
_of_service = _of.service_id == bindparam("service")
_listed = select(service_saves).where(_of_service)
PAGE = _listed.where(_of.id < bindparam("before")).order_by(_of.id.desc()).limit(bindparam("most", type_=Integer))
KNOWN = select(_of.entry_id).where(_of_service, one_of(_of.entry_id, "ids"))
OF_ENTRY = (
    select(service_saves)
    .join(services, services.c.id == _of.service_id)
    .where(services.c.user_id == bindparam("owner"), _of.entry_id == bindparam("entry"))
)
RETRY = (
    service_saves.update()
    .where(_of_service, _of.status == SaveStatus.FAILED)
    .values(status=SaveStatus.PENDING, attempts=0, next_attempt_at=bindparam("at"), last_error=None, finished_at=None)
)
RETRY_ENTRIES = RETRY.where(one_of(_of.entry_id, "ids"))


def steps_to_queue_saves(service_id: int, entry_ids: Sequence[int], now: datetime) -> list[Step]:
    """Queues entries for a service: those that failed are due again, those that were saved or wait stay as they are."""
    at = to_iso(now)
    values = {"service": service_id, "ids": as_list(list(entry_ids)), "at": at}
    return [Step(RETRY_ENTRIES, values), Step(QUEUE, values | {"due_at": at})]


async def saved_before(db: Database, service_id: int, entry_ids: Sequence[int]) -> set[int]:
    """Those of these entries that were saved to the service, or wait for it, or failed."""
    rows = await db.query(KNOWN, {"service": service_id, "ids": as_list(list(entry_ids))})
    return {row["entry_id"] for row in rows}


async def saves_of_service(db: Database, service_id: int, before: int, most: int) -> list[ServiceSave]:
    """What was saved to a service, the latest first."""
    rows = await db.query(PAGE, {"service": service_id, "before": before, "most": most})
    return [to_save(row) for row in rows]


async def saves_of_entry(db: Database, user_id: int, entry_id: int) -> list[ServiceSave]:
    """The user's saves of an entry."""
    return [to_save(row) for row in await db.query(OF_ENTRY, {"owner": user_id, "entry": entry_id})]


async def retry_failed_saves(db: Database, service_id: int, now: datetime) -> int:
    """Makes all failed saves of a service due again; how many there were."""
    [retried] = await db.batch([Step(RETRY, {"service": service_id, "at": to_iso(now)})])
    return retried


def to_save(row: Row) -> ServiceSave:
    same = {name: row[name] for name in ("id", "service_id", "entry_id", "attempts", "http_status")}
    return ServiceSave(
        **same,
        status=SaveStatus(row["status"]),
        next_attempt_at=datetime_or_none(row["next_attempt_at"]),
        last_error=message_or_none(row["last_error"]),
        created_at=from_iso(row["created_at"]),
        finished_at=datetime_or_none(row["finished_at"]),
    )
