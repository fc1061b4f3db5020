"""Checks the database: its clock, its tables, and that it takes writes."""

from datetime import datetime

from sqlalchemy import literal, select

from feedmill.errors import StatementRefused
from feedmill.model.timestamps import from_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import DATABASE_TIME, insert_new
from feedmill.store.schema import instance_state, metadata

PROBE = "check"
INSERT_PROBE = insert_new(instance_state, "name", "value")
DELETE_PROBE = instance_state.delete().where(instance_state.c.name == PROBE)


async def database_time(db: Database) -> datetime:
    """The time of the database server."""
    [row] = await db.query(DATABASE_TIME[db.dialect_name])
    return from_iso(row["at"])


async def missing_tables(db: Database) -> list[str]:
    """The tables of the schema that the database does not have."""
    return [table.name for table in metadata.sorted_tables if not await _is_there(db, table.name)]


async def probe_writing(db: Database, token: str) -> None:
    """Writes a row and deletes it, in one batch; raises `DatabaseError` if the database takes no writes."""
    await db.batch([Step(INSERT_PROBE, {"name": PROBE, "value": token}), Step(DELETE_PROBE)])


async def _is_there(db: Database, name: str) -> bool:
    try:
        await db.query(select(literal(1)).select_from(metadata.tables[name]).limit(1))
    except StatementRefused:
        return False
    return True
