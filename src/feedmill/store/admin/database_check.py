"""Checks the database: its clock and its tables."""

from datetime import datetime

from sqlalchemy import literal, select, text

from feedmill.errors import StatementRefused
from feedmill.model.timestamps import from_iso
from feedmill.store.database import Database
from feedmill.store.schema import metadata

NOW = {
    "sqlite": text("SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now') AS at"),
    "postgresql": text(
        """SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at"""
    ),
    "mysql": text("SELECT CONCAT(LEFT(DATE_FORMAT(UTC_TIMESTAMP(3), '%Y-%m-%dT%H:%i:%s.%f'), 23), 'Z') AS at"),
}


async def database_time(db: Database) -> datetime:
    """What the database's own clock says."""
    [row] = await db.query(NOW[db.dialect_name])
    return from_iso(row["at"])


async def missing_tables(db: Database) -> list[str]:
    """The tables that the schema has and the database does not."""
    return [table.name for table in metadata.sorted_tables if not await _is_there(db, table.name)]


async def _is_there(db: Database, name: str) -> bool:
    try:
        await db.query(select(literal(1)).select_from(metadata.tables[name]).limit(1))
    except StatementRefused:
        return False
    return True
