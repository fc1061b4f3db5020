"""Makes changes of columns repeatable: SQLite has no ADD COLUMN IF NOT EXISTS."""

from sqlalchemy import column, select, table

from feedmill.errors import StatementRefused
from feedmill.store.database import Database


async def is_done_already(db: Database, statement: str) -> bool:
    """Whether an interrupted migration has run this change of a column; False for any other statement."""
    match statement.split()[:6]:
        case ["ALTER", "TABLE", changed, "ADD", "COLUMN", name]:
            return await _has_column(db, changed, name)
        case ["ALTER", "TABLE", changed, "DROP" | "RENAME", "COLUMN", name]:
            return not await _has_column(db, changed, name)
    return False


async def _has_column(db: Database, of_table: str, name: str) -> bool:
    try:
        await db.query(select(column(name)).select_from(table(of_table)).limit(1))
    except StatementRefused:
        return False
    return True
