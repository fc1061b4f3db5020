"""The audit log: actions of administrators, written in the batch that does them."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Integer, bindparam, select

from feedmill.model.timestamps import from_iso, to_iso
from feedmill.model.user import Actor
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import audit, users

INSERT = insert(audit, "at", "user_id", "action", "subject", "address")
PAGE = (
    select(audit, users.c.name.label("user_name"))
    .select_from(audit.outerjoin(users, users.c.id == audit.c.user_id))
    .where(audit.c.id < bindparam("below"))
    .order_by(audit.c.id.desc())
    .limit(bindparam("most", type_=Integer))
)


@dataclass(frozen=True, slots=True)
class AuditLogLine:
    """One line of the audit log. `user_name` is None for the command line, and for deleted users."""

    id: int
    at: datetime
    user_id: int | None
    user_name: str | None
    action: str
    subject: str | None
    address: str | None


def step_to_audit(by: Actor, action: str, subject: str, now: datetime) -> Step:
    """The step that records who did what to what."""
    line = {"at": to_iso(now), "user_id": by.user_id, "action": action, "subject": subject, "address": by.address}
    return Step(INSERT, line)


async def audit_log_page(db: Database, below: int, most: int) -> list[AuditLogLine]:
    """The lines with ids below `below`, the latest first."""
    rows = await db.query(PAGE, {"below": below, "most": most})
    return [
        AuditLogLine(
            id=row["id"],
            at=from_iso(row["at"]),
            user_id=row["user_id"],
            user_name=row["user_name"],
            action=row["action"],
            subject=row["subject"],
            address=row["address"],
        )
        for row in rows
    ]
