"""Adds, reads, changes and removes the services of users."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select

from feedmill.i18n.messages import message_or_none
from feedmill.model.encrypted import Encrypted
from feedmill.model.services.save_service import SaveService, SaveStatus, ServiceKind
from feedmill.model.timestamps import datetime_or_none, from_iso, to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import service_saves, services

_of_owner = (services.c.id == bindparam("service"), services.c.user_id == bindparam("owner"))

ADD = insert(services, "user_id", "kind", "name", "options", "by_key", "created_at")
_of_user = select(services).where(services.c.user_id == bindparam("owner"))
OF_USER = _of_user.order_by(services.c.id)
# Encrypting the same options twice gives different texts.
ADDED = _of_user.where(services.c.options == bindparam("options")).order_by(services.c.id.desc()).limit(1)
ONE = select(services).where(*_of_owner)
CHANGE = (
    services.update()
    .where(*_of_owner)
    .values(name=bindparam("new_name"), options=bindparam("new_options"), by_key=bindparam("new_by_key"))
    .values(last_error=None)
)
# What waits for a service is sent at once when it has changed.
SEND_WAITING = (
    service_saves.update()
    .where(service_saves.c.service_id == bindparam("service"), service_saves.c.status == SaveStatus.PENDING)
    .where(service_saves.c.claim_token.is_(None))
    .values(next_attempt_at=bindparam("at"), attempts=0)
)
DROP = services.delete().where(*_of_owner)


@dataclass(frozen=True, slots=True)
class StoredService:
    """What is written of a service."""

    kind: ServiceKind
    name: str
    options: Encrypted
    by_key: bool


async def add_service(db: Database, user_id: int, new: StoredService, now: datetime) -> SaveService:
    row = {"user_id": user_id, "kind": new.kind, "name": new.name, "options": new.options.value}
    await db.batch([Step(ADD, row | {"by_key": int(new.by_key), "created_at": to_iso(now)})])
    [added] = await db.query(ADDED, {"owner": user_id, "options": new.options.value})
    return _service(added)


async def services_of(db: Database, user_id: int) -> list[SaveService]:
    return [_service(row) for row in await db.query(OF_USER, {"owner": user_id})]


async def service_of(db: Database, user_id: int, service_id: int) -> SaveService | None:
    """The user's service of that id; None also when it is somebody else's."""
    rows = await db.query(ONE, _key(user_id, service_id))
    return _service(rows[0]) if rows else None


async def change_service(db: Database, user_id: int, service_id: int, changed: StoredService, now: datetime) -> bool:
    """Writes a service as it is now and forgets its last error; False when the user has no such service."""
    row = {"new_name": changed.name, "new_options": changed.options.value, "new_by_key": int(changed.by_key)}
    if await service_of(db, user_id, service_id) is None:
        return False
    waiting = Step(SEND_WAITING, {"service": service_id, "at": to_iso(now)})
    changed_rows, _ = await db.batch([Step(CHANGE, _key(user_id, service_id) | row), waiting])
    return changed_rows == 1


async def drop_service(db: Database, user_id: int, service_id: int) -> bool:
    """Deletes a service with the list of what was saved to it; False when the user has no such service."""
    return await db.batch([Step(DROP, _key(user_id, service_id))]) == [1]


def _key(user_id: int, service_id: int) -> dict[str, Any]:
    return {"owner": user_id, "service": service_id}


def _service(row: Row) -> SaveService:
    return SaveService(
        id=row["id"],
        user_id=row["user_id"],
        kind=ServiceKind(row["kind"]),
        name=row["name"],
        options=Encrypted(row["options"]),
        by_key=bool(row["by_key"]),
        last_success_at=datetime_or_none(row["last_success_at"]),
        last_error=message_or_none(row["last_error"]),
        created_at=from_iso(row["created_at"]),
    )
