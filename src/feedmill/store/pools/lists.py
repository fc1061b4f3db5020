"""What the database knows of the Redis list of each pool."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, select

from feedmill.model.pool import PoolKey
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert_selected
from feedmill.store.schema import pool_groups, pool_lists

_of_pool = (pool_lists.c.group_id == bindparam("group"), pool_lists.c.kind == bindparam("pool_kind"))
READ = select(pool_lists.c.life, pool_lists.c.rpop_seen_at).where(*_of_pool)
# Selected from the group, so that one that was deleted meanwhile is not an error.
ADD = insert_selected(
    pool_lists,
    select(pool_groups.c.id.label("a"), bindparam("pool_kind").label("b")).where(
        pool_groups.c.id == bindparam("group")
    ),
    "group_id",
    "kind",
)
SET_LIFE = pool_lists.update().where(*_of_pool).values(life=bindparam("new_life"))
END_LIFE = SET_LIFE.where(pool_lists.c.life == bindparam("old_life"))
SET_RPOP_SEEN = pool_lists.update().where(*_of_pool).values(rpop_seen_at=bindparam("at"))


@dataclass(frozen=True, slots=True)
class PoolListRecord:
    """`life` is the token of the list with the queued items, None without one; others were seen at `rpop_seen_at`."""

    life: str | None = None
    rpop_seen_at: datetime | None = None


async def read_list_record(db: Database, pool: PoolKey) -> PoolListRecord:
    rows = await db.query(READ, pool.values)
    if not rows:
        return PoolListRecord()
    [row] = rows
    return PoolListRecord(row["life"], from_iso(row["rpop_seen_at"]) if row["rpop_seen_at"] else None)


async def set_list_life(db: Database, pool: PoolKey, life: str) -> None:
    """Records the list that is filled from now on."""
    await db.batch([Step(ADD, pool.values), Step(SET_LIFE, {**pool.values, "new_life": life})])


async def end_list_life(db: Database, pool: PoolKey, life: str) -> bool:
    """Records that the list with this token is lost; False when another one was started meanwhile."""
    values = {**pool.values, "new_life": None, "old_life": life}
    return await db.batch([Step(END_LIFE, values)]) == [1]


async def record_rpop(db: Database, pool: PoolKey, now: datetime) -> None:
    """Records that a program took from the list without us."""
    await db.batch([Step(ADD, pool.values), Step(SET_RPOP_SEEN, {**pool.values, "at": to_iso(now)})])
