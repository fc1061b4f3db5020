"""How far the scan of entries for pools has come; restarts it when the groups change."""

from sqlalchemy import bindparam, select

from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert_new
from feedmill.store.schema import instance_state

GATHERED = "pools:gathered"
READ_GATHERED = select(instance_state.c.value).where(instance_state.c.name == GATHERED)
BEGIN_GATHERED = insert_new(instance_state, "name", "value")
ADVANCE_GATHERED = (
    instance_state.update()
    .where(instance_state.c.name == GATHERED, instance_state.c.value == bindparam("before"))
    .values(value=bindparam("after"))
)
SET_GATHERED = instance_state.update().where(instance_state.c.name == GATHERED).values(value=bindparam("after"))


async def gathered_up_to(db: Database) -> int:
    """The id up to which stored entries were scanned for the current groups."""
    rows = await db.query(READ_GATHERED)
    if not rows:
        await db.batch([Step(BEGIN_GATHERED, {"name": GATHERED, "value": "0"})])
    return int(rows[0]["value"]) if rows else 0


async def advance_gathered(db: Database, before: int, after: int) -> bool:
    """Advances the scan from `before` to `after`; False when it was restarted meanwhile."""
    return await db.batch([Step(ADVANCE_GATHERED, {"before": str(before), "after": str(after)})]) == [1]


def step_to_restart_gathering(after: int = 0) -> Step:
    """The step after which the scan continues with the entry that follows `after`."""
    return Step(SET_GATHERED, {"after": str(after)})
