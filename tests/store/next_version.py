"""A synthetic next version of Feedmill: one migration more than this one has, of the kinds that real ones have."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from feedmill import __version__
from feedmill.adapters.database import open_database
from feedmill.model.timestamps import to_iso
from feedmill.settings import load_settings
from feedmill.store import migrations
from feedmill.store.database import Database, Step
from feedmill.store.migrations import RECORD_BEGIN, Migration, migrate, read_migration, read_migrations

NAME = "reading_times"
FILES = {
    "sqlite": """
        CREATE TABLE IF NOT EXISTS reading_times (entry_id INTEGER PRIMARY KEY, seconds INTEGER);
        INSERT INTO reading_times (entry_id, seconds) SELECT id, 60 FROM entries WHERE 1=1 ON CONFLICT DO NOTHING;
        ALTER TABLE entries ADD COLUMN reading_seconds INTEGER;
        UPDATE entries SET reading_seconds = 60 WHERE reading_seconds IS NULL;
        CREATE INDEX IF NOT EXISTS entries_reading_seconds ON entries (reading_seconds);
        ALTER TABLE reading_times RENAME COLUMN seconds TO duration;
        ALTER TABLE reading_times ADD COLUMN unneeded INTEGER;
        ALTER TABLE reading_times DROP COLUMN unneeded;
    """,
    "postgresql": """
        CREATE TABLE IF NOT EXISTS reading_times (entry_id BIGINT PRIMARY KEY, seconds INTEGER);
        INSERT INTO reading_times (entry_id, seconds) SELECT id, 60 FROM entries WHERE 1=1 ON CONFLICT DO NOTHING;
        ALTER TABLE entries ADD COLUMN reading_seconds INTEGER;
        UPDATE entries SET reading_seconds = 60 WHERE reading_seconds IS NULL;
        CREATE INDEX IF NOT EXISTS entries_reading_seconds ON entries (reading_seconds);
        ALTER TABLE reading_times RENAME COLUMN seconds TO duration;
        ALTER TABLE reading_times ADD COLUMN unneeded INTEGER;
        ALTER TABLE reading_times DROP COLUMN unneeded;
    """,
    "mysql": """
        CREATE TABLE IF NOT EXISTS reading_times (entry_id BIGINT PRIMARY KEY, seconds INTEGER) ENGINE=InnoDB;
        INSERT INTO reading_times (entry_id, seconds) SELECT id, 60 FROM entries
            ON DUPLICATE KEY UPDATE reading_times.entry_id = reading_times.entry_id;
        ALTER TABLE entries ADD COLUMN reading_seconds INTEGER;
        UPDATE entries SET reading_seconds = 60 WHERE reading_seconds IS NULL;
        CREATE INDEX IF NOT EXISTS entries_reading_seconds ON entries (reading_seconds);
        ALTER TABLE reading_times RENAME COLUMN seconds TO duration;
        ALTER TABLE reading_times ADD COLUMN unneeded INTEGER;
        ALTER TABLE reading_times DROP COLUMN unneeded;
    """,
}
VERSION = "99.0.0"


def next_migration(dialect_name: str) -> Migration:
    number = read_migrations(dialect_name)[-1].version + 1
    return read_migration(f"{number:04}_{NAME}", FILES[dialect_name])


@contextmanager
def next_version() -> Iterator[None]:
    """The code of the next version, in this process, for the block."""
    known, own = migrations.read_migrations, migrations.__version__
    migrations.read_migrations = lambda dialect: (*known(dialect), next_migration(dialect))  # type: ignore[assignment]
    migrations.__version__ = VERSION  # type: ignore[misc]
    try:
        yield
    finally:
        migrations.read_migrations, migrations.__version__ = known, own  # type: ignore[misc]


def run_migration(plan: dict[str, Any]) -> None:
    """The main function of a process of the next version, which migrates, or kills itself at a statement."""
    asyncio.run(_run_migration(**plan))


async def _run_migration(settings: dict[str, str], killed_at: int | None, is_before: bool) -> None:
    db = open_database(load_settings(**settings))
    if killed_at is not None:
        _kill_at(db, next_migration(db.dialect_name).statements[killed_at], is_before)
    with next_version():
        await migrate(db)
    await db.close()


def _kill_at(db: Database, last: str, is_before: bool) -> None:
    """Kills this process just before the statement `last`, or just after it."""
    run = db.exec

    async def run_or_die(sql: str) -> None:
        if sql == last and is_before:
            os.kill(os.getpid(), signal.SIGKILL)
        await run(sql)
        if sql == last:
            os.kill(os.getpid(), signal.SIGKILL)

    db.exec = run_or_die  # type: ignore[method-assign]


async def record_begin(db: Database, version: int, feedmill: str = __version__) -> None:
    """Records that a migration has begun, as the Feedmill that knows it does."""
    now = to_iso(datetime.now(UTC))
    await db.batch([Step(RECORD_BEGIN, {"version": version, "feedmill": feedmill, "begun_at": now})])
