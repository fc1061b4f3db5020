"""Upgrades by a synthetic next version, on each of the four databases: interrupted, beside old processes, refused."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, text

from feedmill.adapters.database import open_database
from feedmill.run import schema_watch
from feedmill.run.schema_watch import watch_schema
from feedmill.settings import load_settings
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.migrations import NewerSchema, migrate, pending_migrations, running_processes
from feedmill.store.migrations.running_processes import add_process, count_processes, renew_process
from feedmill.store.schema import entries, feeds, locks
from tests.cli.command import environment
from tests.databases import blank_settings
from tests.fork_server.client import fork_server
from tests.store.next_version import FILES, next_migration, next_version
from tests.waiting import LONGEST_WAIT, until

KINDS = ["sqlite", "postgresql", "mariadb", "d1"]
AT = "2026-11-18T08:00:00.000Z"
FEED = {"id": 1, "url": "https://example.org/feed", "host": "example.org", "created_at": AT}
ENTRY = {
    "id": 1,
    "feed_id": 1,
    "guid": "a",
    "sort_at": AT,
    "refresh_token": "t",
    "digest": "d",
    "first_seen_at": AT,
    "last_seen_at": AT,
}
NOW = datetime(2026, 11, 18, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)
PROCESSES = select(locks.c.until).where(locks.c.name.startswith(running_processes.PREFIX))
TIMES = text("SELECT entry_id, duration FROM reading_times")
READING = text("SELECT id, reading_seconds FROM entries")


@pytest.fixture(params=KINDS)
async def settings(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[dict[str, str]]:
    """A database of this version with a feed and an entry."""
    async with blank_settings(request, request.param, tmp_path) as reached:
        db = open_database(load_settings(**reached))
        await migrate(db)
        await db.batch([Step(insert(feeds, *FEED), FEED), Step(insert(entries, *ENTRY), ENTRY)])
        await db.close()
        yield reached


@pytest.fixture
async def db(settings: dict[str, str]) -> AsyncIterator[Database]:
    database = open_database(load_settings(**settings))
    yield database
    await database.close()


async def test_the_next_version_migrates_and_keeps_everything(db: Database) -> None:
    with next_version():
        done = await migrate(db)

    assert done == [next_migration(db.dialect_name)]
    await assert_migrated(db)


@pytest.mark.external
@pytest.mark.parametrize("is_before", [True, False])
async def test_a_killed_migration_goes_on_at_the_next_start(
    settings: dict[str, str], db: Database, tmp_path: Path, is_before: bool
) -> None:
    for statement in range(len(next_migration(db.dialect_name).statements)):
        code = await asyncio.to_thread(run_migration, tmp_path, settings, statement, is_before)
        assert code == -signal.SIGKILL
        await db.exec("DELETE FROM locks")  # as if the lease of the killed process had ended

        with pytest.raises(NewerSchema):
            await pending_migrations(db)

    with next_version():
        assert [migration.name for migration in await migrate(db)] == ["reading_times"]
    await assert_migrated(db)


async def test_an_interrupted_upgrade_is_refused_by_the_old_version(db: Database) -> None:
    with next_version(), suppress(InterruptedError):
        await migrate(FailsAfter(db, 3))  # type: ignore[arg-type]

    with pytest.raises(NewerSchema, match=r"99\.0\.0.*install 99\.0\.0 or later, or load a backup"):
        await migrate(db)


@pytest.mark.external
async def test_old_processes_are_told_to_stop_and_the_migration_waits_for_them(
    settings: dict[str, str], db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_watch, "CHECK_EVERY", schema_watch.CHECK_EVERY / 100)
    old = OldProcess(open_database(load_settings(**settings)))
    working = asyncio.create_task(old.work())
    await until(lambda: old.written > 0)

    migrating = asyncio.create_task(asyncio.to_thread(run_migration, tmp_path, settings))
    with pytest.raises(NewerSchema, match=r"install 99\.0\.0"):
        await working
    assert await migrating == 0

    await assert_migrated(db, entries=1 + old.written)
    await old.db.close()


async def test_a_process_that_was_killed_delays_the_migration_but_does_not_stop_it(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_processes, "STOP_TIME", running_processes.STOP_TIME / 100)
    await add_process(db, "killed", NOW)

    with next_version():
        await migrate(db)

    assert await count_processes(db) == 0
    await assert_migrated(db)


async def test_processes_that_were_killed_are_forgotten_after_an_hour(db: Database) -> None:
    for name in ("killed", "lives", "sleeps"):
        await add_process(db, name, NOW - 2 * HOUR)
    await renew_process(db, "lives", NOW - HOUR / 2)

    await add_process(db, "new", NOW)
    after = await count_processes(db)
    await renew_process(db, "sleeps", NOW)

    assert (after, await count_processes(db)) == (2, 3)


async def test_a_process_renews_its_row(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_watch, "RENEW_EVERY", timedelta(milliseconds=10))
    async with watch_schema(db):
        [begun] = await db.query(PROCESSES)

        async def is_renewed() -> bool:
            [row] = await db.query(PROCESSES)
            return bool(row["until"] > begun["until"])

        await until(is_renewed)


async def test_a_process_that_ends_leaves_no_row(db: Database) -> None:
    async with watch_schema(db):
        during = await count_processes(db)

    assert (during, await count_processes(db)) == (1, 0)


def test_every_dialect_has_the_same_synthetic_statements() -> None:
    assert len({len(next_migration(dialect).statements) for dialect in FILES}) == 1


class OldProcess:
    """Writes entries until it is told to stop; then ends its last write, as a worker does."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.written = 0
        self._stop = asyncio.Event()

    async def work(self) -> None:
        async with watch_schema(self.db, self._stop.set):
            while not self._stop.is_set():
                await self._write()
            await self._write()

    async def _write(self) -> None:
        row = ENTRY | {"id": self.written + 2, "guid": str(self.written)}
        await self.db.batch([Step(insert(entries, *row), row)])
        self.written += 1


class FailsAfter:
    """A database whose connection is lost after some statements of a migration."""

    def __init__(self, db: Database, statements: int) -> None:
        self.dialect_name, self.query, self.batch = db.dialect_name, db.query, db.batch
        self._db, self._left = db, statements

    async def exec(self, sql: str) -> None:
        if self._left == 0:
            raise InterruptedError
        self._left -= 1
        await self._db.exec(sql)


def run_migration(folder: Path, settings: dict[str, str], killed_at: int | None = None, is_before: bool = False) -> int:
    """Runs the next version's migration in another process; its exit code."""
    with open(os.devnull) as nothing, (folder / "migration.log").open("a") as log:
        process = fork_server().start(
            "tests.store.next_version:run_migration",
            {"settings": settings, "killed_at": killed_at, "is_before": is_before},
            folder=folder,
            environment=environment(),
            streams=(nothing.fileno(), log.fileno(), log.fileno()),
        )
        return process.wait(LONGEST_WAIT)


async def assert_migrated(db: Database, entries: int = 1) -> None:
    with next_version():
        assert await pending_migrations(db) == []
    times = {row["entry_id"]: row["duration"] for row in await db.query(TIMES)}
    assert times == {row["id"]: row["reading_seconds"] for row in await db.query(READING)}
    assert times == dict.fromkeys(range(1, entries + 1), 60)
