"""Applies the numbered SQL migrations of each database, one process at a time.

A migration is a file per dialect, `0001_base.sqlite.sql`, frozen once it is released. Each of its statements
can be repeated, so that an interrupted migration is run again from its start.
"""

from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.dialects import registry
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateTable

from feedmill.errors import DatabaseError, StatementRefused
from feedmill.model.timestamps import to_iso
from feedmill.store import locks, schema
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert_new

LEASE = timedelta(seconds=20)
APPLIED = select(schema.migrations.c.version)
RECORD = insert_new(schema.migrations, "version", "applied_at")


class Migration(NamedTuple):
    version: int
    name: str
    statements: tuple[str, ...]


class NewerSchema(DatabaseError):
    """The database was migrated by a newer Feedmill than this one."""


async def migrate(db: Database) -> list[Migration]:
    """Brings the schema up to date, one process at a time, and returns what was done."""
    if not await pending_migrations(db):
        return []
    await _create_own_tables(db)
    async with locks.hold_lock(db, "migrate", LEASE) as renew:
        todo = await pending_migrations(db)
        for migration in todo:
            for statement in migration.statements:
                await db.exec(statement)
                await renew()
            now = to_iso(datetime.now(UTC))
            await db.batch([Step(RECORD, {"version": migration.version, "applied_at": now})])
    return todo


async def pending_migrations(db: Database) -> list[Migration]:
    """The migrations that were not applied to this database yet."""
    try:
        applied = {row["version"] for row in await db.query(APPLIED)}
    except StatementRefused:
        # An empty database has no table of migrations.
        applied = set()
    known = read_migrations(db.dialect_name)
    if unknown := applied - {migration.version for migration in known}:
        raise NewerSchema(f"the database is at version {max(unknown)}, this Feedmill knows {len(known)}: upgrade it")
    return [migration for migration in known if migration.version not in applied]


@cache
def read_migrations(dialect_name: str) -> tuple[Migration, ...]:
    """All migrations for a dialect, in order."""
    suffix = f".{dialect_name}.sql"
    files = [file for file in resources.files(__name__).iterdir() if file.name.endswith(suffix)]
    files.sort(key=lambda file: file.name)
    return tuple(_read(file.name.removesuffix(suffix), file.read_text()) for file in files)


def _read(stem: str, text: str) -> Migration:
    number, _, name = stem.partition("_")
    # One line per statement: D1's exec ends a statement at a line break.
    statements = tuple(" ".join(part.split()) for part in text.split(";\n") if part.strip())
    return Migration(int(number), name, statements)


def sqlalchemy_dialect(name: str) -> Dialect:
    """SQLAlchemy's dialect of this name; the others are not imported."""
    dialect: Dialect = registry.load(name)()
    return dialect


async def _create_own_tables(db: Database) -> None:
    dialect = sqlalchemy_dialect(db.dialect_name)
    for table in (schema.locks, schema.migrations):
        sql = str(CreateTable(table, if_not_exists=True).compile(dialect=dialect))
        await db.exec(" ".join(sql.split()))
