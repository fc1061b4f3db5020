"""How far the source table of a pool was read. It may be lost or behind: rows that are known are not taken again."""

from dataclasses import dataclass

from sqlalchemy import BigInteger, and_, bindparam, literal, select

from feedmill.model.pool import PoolKey
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert_selected
from feedmill.store.schema import pool_groups, pool_source_tables

# Ids are whole numbers from 0 on.
BEFORE_FIRST = -1

_columns = pool_source_tables.c
_of_pool = and_(_columns.group_id == bindparam("group"), _columns.kind == bindparam("pool_kind"))
_of_table = and_(_of_pool, _columns.table_name == bindparam("source_name"))
_first = literal(BEFORE_FIRST, BigInteger)
READ = select(_columns.newest_id, _columns.swept_id).where(_of_table)
# Selected from the group, so that one that was deleted meanwhile is not an error.
ADD = insert_selected(
    pool_source_tables,
    select(
        pool_groups.c.id.label("a"),
        bindparam("pool_kind").label("b"),
        bindparam("source_name").label("c"),
        _first.label("d"),
        _first.label("e"),
    ).where(pool_groups.c.id == bindparam("group")),
)
CHANGE_TABLE = (
    pool_source_tables.update()
    .where(_of_pool, _columns.table_name != bindparam("source_name"))
    .values(table_name=bindparam("source_name"), newest_id=_first, swept_id=_first)
)
SET_NEWEST = pool_source_tables.update().where(_of_table).values(newest_id=bindparam("last"))
SET_SWEPT = pool_source_tables.update().where(_of_table).values(swept_id=bindparam("last"))


@dataclass(frozen=True, slots=True)
class SourceProgress:
    """`newest` is the highest id that was read; `swept` the last one that the search for late rows has looked at."""

    newest: int = BEFORE_FIRST
    swept: int = BEFORE_FIRST


async def read_source_progress(db: Database, pool: PoolKey, table: str) -> SourceProgress:
    """The progress with this table; the beginning, if another one was read before."""
    rows = await db.query(READ, {**pool.values, "source_name": table})
    return SourceProgress(rows[0]["newest_id"], rows[0]["swept_id"]) if rows else SourceProgress()


async def save_newest_id(db: Database, pool: PoolKey, table: str, last: int) -> None:
    values = {**pool.values, "source_name": table}
    await db.batch([Step(ADD, values), Step(CHANGE_TABLE, values), Step(SET_NEWEST, {**values, "last": last})])


async def save_swept_id(db: Database, pool: PoolKey, table: str, last: int) -> None:
    await db.batch([Step(SET_SWEPT, {**pool.values, "source_name": table, "last": last})])
