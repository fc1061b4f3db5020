"""Checks the database: its clock and its tables."""

from datetime import datetime

from sqlalchemy import literal, select

from feedmill.errors import StatementRefused
from feedmill.model.timestamps import from_iso
from feedmill.store.database import Database
from feedmill.store.dialect import DATABASE_TIME
from feedmill.store.schema import metadata


async def database_time(db: Database) -> datetime:
    """The time of the database server."""
    [row] = await db.query(DATABASE_TIME[db.dialect_name])
    return from_iso(row["at"])


async def missing_tables(db: Database) -> list[str]:
    """The tables of the schema that the database does not have."""
    return [table.name for table in metadata.sorted_tables if not await _is_there(db, table.name)]


async def _is_there(db: Database, name: str) -> bool:
    try:
        await db.query(select(literal(1)).select_from(metadata.tables[name]).limit(1))
    except StatementRefused:
        return False
    return True
