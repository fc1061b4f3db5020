"""Ids that were given by hand: the next ones must come after them."""

from sqlalchemy import Table, text

from feedmill.store.database import Database, Step


async def number_after(db: Database, *tables: Table) -> None:
    """Makes new rows of these tables get ids above those there are; only PostgreSQL does not do so by itself."""
    if db.dialect_name == "postgresql":
        await db.batch([Step(text(_sql(table.name))) for table in tables])


def _sql(name: str) -> str:
    # Names of our own tables, never a stranger's text.
    return f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), GREATEST(MAX(id), 1)) FROM {name}"  # noqa: S608
