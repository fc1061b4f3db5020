"""Applies the numbered SQL migrations of each database, one process at a time.

A migration is a file per dialect, `0001_base.sqlite.sql`, frozen once it is released (`released.toml`). An interrupted
migration goes on at the statement that was interrupted. Each statement can be repeated, because it may have been run.
"""

from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import NamedTuple

from sqlalchemy import bindparam, select
from sqlalchemy.dialects import registry
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateTable

from feedmill import __version__
from feedmill.errors import DatabaseError, StatementRefused
from feedmill.i18n.messages import Message
from feedmill.model.timestamps import to_iso
from feedmill.store import locks, schema
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert_new
from feedmill.store.migrations.column_changes import is_done_already
from feedmill.store.migrations.running_processes import wait_until_stopped

RECORDED = select(schema.migrations)
RECORD_BEGIN = insert_new(schema.migrations, "version", "feedmill", "begun_at")
RECORD_STATEMENT = (
    schema.migrations.update()
    .where(schema.migrations.c.version == bindparam("of_version"))
    .values(statements_done=bindparam("done"))
)
RECORD_END = (
    schema.migrations.update()
    .where(schema.migrations.c.version == bindparam("of_version"))
    .values(applied_at=bindparam("now"))
)


class Migration(NamedTuple):
    version: int
    name: str
    statements: tuple[str, ...]


class NewerSchema(DatabaseError):
    """A newer Feedmill has migrated the database, or has begun to."""


async def migrate(db: Database, up_to: int | None = None) -> list[Migration]:
    """Brings the schema up to date, or to version `up_to`, one process at a time, and returns what was done.

    Other processes are told to stop first, and stop within seconds: see `running_processes`.
    """
    if not await pending_migrations(db):
        return []
    await _create_own_tables(db)
    async with locks.hold_renewed_lock(db, "migrate"):
        todo = [each for each in await pending_migrations(db) if up_to is None or each.version <= up_to]
        if not todo:
            # Another process was faster; it may be at work already.
            return []
        await _record_begin(db, todo)
        await wait_until_stopped(db)
        for migration in todo:
            await _apply(db, migration)
    return todo


async def pending_migrations(db: Database) -> list[Migration]:
    """The migrations that were not completed on this database yet; raises `NewerSchema`."""
    recorded = await _recorded(db)
    known = read_migrations(db.dialect_name)
    _refuse_newer(recorded, known)
    applied = {row["version"] for row in recorded if row["applied_at"]}
    return [migration for migration in known if migration.version not in applied]


async def check_not_newer(db: Database) -> None:
    """Raises `NewerSchema` if a newer Feedmill has migrated the database, or has begun to."""
    _refuse_newer(await _recorded(db), read_migrations(db.dialect_name))


async def _recorded(db: Database) -> list[Row]:
    try:
        return await db.query(RECORDED)
    except StatementRefused:
        # An empty database has no table of migrations.
        return []


def _refuse_newer(recorded: list[Row], known: tuple[Migration, ...]) -> None:
    newest = max(recorded, key=lambda row: int(row["version"]), default=None)
    if newest is not None and newest["version"] > known[-1].version:
        raise NewerSchema(
            Message(
                "database.newer",
                newer=newest["feedmill"],
                schema=str(newest["version"]),
                own=__version__,
                own_schema=str(known[-1].version),
            )
        )


async def _record_begin(db: Database, todo: list[Migration]) -> None:
    """From now on an older Feedmill refuses the database, also if this migration is interrupted."""
    now = to_iso(datetime.now(UTC))
    rows = [{"version": migration.version, "feedmill": __version__, "begun_at": now} for migration in todo]
    await db.batch([Step(RECORD_BEGIN, rows)])


async def _apply(db: Database, migration: Migration) -> None:
    [done] = [row["statements_done"] for row in await db.query(RECORDED) if row["version"] == migration.version]
    for number, statement in enumerate(migration.statements[done:], done + 1):
        if not await is_done_already(db, statement):
            await db.exec(statement)
        await db.batch([Step(RECORD_STATEMENT, {"of_version": migration.version, "done": number})])
    await db.batch([Step(RECORD_END, {"of_version": migration.version, "now": to_iso(datetime.now(UTC))})])


@cache
def read_migrations(dialect_name: str) -> tuple[Migration, ...]:
    """All migrations for a dialect, in order."""
    suffix = f".{dialect_name}.sql"
    files = [file for file in resources.files(__name__).iterdir() if file.name.endswith(suffix)]
    files.sort(key=lambda file: file.name)
    return tuple(read_migration(file.name.removesuffix(suffix), file.read_text()) for file in files)


def read_migration(stem: str, text: str) -> Migration:
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
