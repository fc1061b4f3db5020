"""Loads the rows of a backup into an empty database."""

from collections.abc import Sequence

from sqlalchemy import Table, select

from feedmill.errors import CallerError, ConstraintViolated, StatementRefused
from feedmill.store.admin.maintenance_tasks import INDEX_ENTRIES, setting_name
from feedmill.store.archive.database_snapshot import TABLES
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert_new
from feedmill.store.id_sequences import advance_id_sequences
from feedmill.store.instance_state import read_instance_value, steps_to_set_instance_value
from feedmill.store.schema import entries, feeds, instance_state, pool_groups, users
from feedmill.store.search.index_completeness import steps_to_mark_index_incomplete

LOADING = "loading"
# Also makes the task due that indexes entries: loaded entries are not in the index.
CLEAR_LOADING = instance_state.delete().where(instance_state.c.name.in_([LOADING, setting_name(INDEX_ENTRIES)]))


class DatabaseNotEmpty(CallerError):
    """The database has rows already."""


async def begin_loading(db: Database, what: str) -> None:
    """Records which backup is being loaded; raises `DatabaseNotEmpty` if there are other rows."""
    if await read_instance_value(db, LOADING) == what:
        return  # an interrupted load of the same backup continues
    for table in (feeds, entries, users, pool_groups):
        if await db.query(select(*table.primary_key).limit(1)):
            raise DatabaseNotEmpty("the database is not empty: load into a new one (another data folder or database)")
    # A server that runs beside the load would take jobs of filters as soon as they are loaded.
    await db.batch([*steps_to_set_instance_value(LOADING, what), *steps_to_mark_index_incomplete()])


async def load_rows(db: Database, table: Table, rows: Sequence[Row]) -> int:
    """Adds rows that are not there yet; how many could not be added because their owner is missing."""
    columns = [name for name in rows[0] if name in table.c]
    values = [{name: row[name] for name in columns} for row in rows]
    try:
        await db.batch([Step(insert_new(table, *columns), values)])
    except ConstraintViolated:
        return 1 if len(rows) == 1 else await _load_halves(db, table, rows)
    except StatementRefused:
        # The batch is too large for D1.
        if len(rows) == 1:
            raise
        return await _load_halves(db, table, rows)
    return 0


async def _load_halves(db: Database, table: Table, rows: Sequence[Row]) -> int:
    half = len(rows) // 2
    return await load_rows(db, table, rows[:half]) + await load_rows(db, table, rows[half:])


async def end_loading(db: Database) -> None:
    """Completes the load: advances the id sequences and clears the record."""
    await advance_id_sequences(db, *(table for table in TABLES if "id" in table.primary_key.columns))
    await db.batch([*steps_to_mark_index_incomplete(), Step(CLEAR_LOADING)])
