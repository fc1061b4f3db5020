"""Decides when a maintenance task is due and which process runs it."""

from datetime import datetime, timedelta

from sqlalchemy import bindparam, or_

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert_new
from feedmill.store.schema import instance_state

INSERT = insert_new(instance_state, "name", "value")
TAKE = (
    instance_state.update()
    .where(
        instance_state.c.name == bindparam("setting"),
        # A time further ahead is from a clock that was wrong and has been set back since.
        or_(instance_state.c.value <= bindparam("now"), instance_state.c.value > bindparam("far")),
    )
    .values(value=bindparam("until"))
)
SET = (
    instance_state.update()
    .where(instance_state.c.name == bindparam("setting"), instance_state.c.value == bindparam("until"))
    .values(value=bindparam("next_at"))
)
# Named here because a restored backup makes it due at once.
INDEX_ENTRIES = "index_entries"
ALWAYS = "2000-01-01T00:00:00.000Z"


async def take_maintenance_task(
    db: Database, name: str, now: datetime, lease: timedelta, every: timedelta
) -> datetime | None:
    """Claims a task until the returned time; None if it is not due or another process has it."""
    until, far = now + lease, now + lease + every
    values = {"setting": setting_name(name), "now": to_iso(now), "until": to_iso(until), "far": to_iso(far)}
    _, taken = await db.batch([Step(INSERT, {"name": setting_name(name), "value": ALWAYS}), Step(TAKE, values)])
    return until if taken == 1 else None


async def schedule_maintenance_task(db: Database, name: str, until: datetime, next_at: datetime) -> None:
    """Sets when the task is due next, unless our claim to it has ended."""
    await db.batch([Step(SET, {"setting": setting_name(name), "until": to_iso(until), "next_at": to_iso(next_at)})])


def setting_name(name: str) -> str:
    """The name under which the due time of a task is stored."""
    return f"maintenance:{name}"
