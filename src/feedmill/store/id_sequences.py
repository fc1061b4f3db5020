"""Advances PostgreSQL's id sequences past rows that were inserted with explicit ids."""

from sqlalchemy import Table, text

from feedmill.store.database import Database, Step


async def advance_id_sequences(db: Database, *tables: Table) -> None:
    """Makes new rows of these tables get ids above the existing ones; the other databases do so by themselves."""
    if db.dialect_name == "postgresql":
        await db.batch([Step(text(_sql(table.name))) for table in tables])


def _sql(name: str) -> str:
    # The name is of one of our tables, never user input.
    return f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), GREATEST(MAX(id), 1)) FROM {name}"  # noqa: S608
