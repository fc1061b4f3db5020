"""Migrations on each of the four databases: on an empty database, repeated, concurrent, interrupted, complete."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy.schema import CreateIndex, CreateTable

from feedmill.store import locks, schema
from feedmill.store.database import Database
from feedmill.store.dialect import DIALECTS
from feedmill.store.migrations import (
    NewerSchema,
    migrate,
    pending_migrations,
    read_migrations,
    running_processes,
    sqlalchemy_dialect,
)
from feedmill.store.migrations.column_changes import is_done_already
from tests.databases import blank
from tests.store.next_version import record_begin
from tests.store.schema_dump import catalog

Connect = Callable[[], Database]

KINDS = ["sqlite", "postgresql", "mariadb", "d1"]


@pytest.fixture(params=KINDS)
async def connect_blank(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Connect]:
    """Opens connections, closed at the end, to a database without tables."""
    opened: list[Database] = []
    async with blank(request, request.param, tmp_path) as connect:

        def open_one() -> Database:
            opened.append(connect())
            return opened[-1]

        yield open_one
        for database in opened:
            await database.close()


async def test_an_empty_database_gets_the_schema(connect_blank: Connect) -> None:
    db = connect_blank()

    done = await migrate(db)

    assert [migration.version for migration in done] == [m.version for m in read_migrations(db.dialect_name)]
    assert await pending_migrations(db) == []


async def test_migrating_again_changes_nothing(connect_blank: Connect) -> None:
    db = connect_blank()
    await migrate(db)
    before = await catalog(db)

    assert await migrate(db) == []
    assert await catalog(db) == before


async def test_every_statement_can_be_run_again(connect_blank: Connect) -> None:
    db = connect_blank()

    await migrate(RepeatsStatements(db))  # type: ignore[arg-type]

    assert await pending_migrations(db) == []
    assert await missing_tables(db) == set()


async def test_of_eight_that_migrate_at_once_one_does_it_and_all_continue(connect_blank: Connect) -> None:
    racers = [connect_blank() for _ in range(8)]

    done = await asyncio.gather(*(migrate(racer) for racer in racers))

    assert sorted(map(len, done)) == [0] * 7 + [len(read_migrations(racers[0].dialect_name))]
    assert await pending_migrations(racers[0]) == []


async def test_processes_that_start_at_once_do_not_wait_for_each_other_to_stop(
    connect_blank: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_processes, "STOP_TIME", running_processes.STOP_TIME / 100)

    async def start(number: int) -> None:
        racer = connect_blank()
        await migrate(racer)
        await running_processes.add_process(racer, str(number), datetime.now(UTC))

    await asyncio.gather(*map(start, range(8)))

    assert await running_processes.count_processes(connect_blank()) == 8


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.9, 1])
async def test_a_migration_killed_half_way_is_finished(connect_blank: Connect, share: float) -> None:
    db = connect_blank()
    await migrate_until_killed(db, share)

    await migrate(db)

    assert await pending_migrations(db) == []
    assert await missing_tables(db) == set()


async def test_the_lock_of_a_killed_migration_expires(connect_blank: Connect) -> None:
    db = connect_blank()
    await migrate_until_killed(db, 0.5)
    lease, taken_at = timedelta(seconds=1), datetime.now(UTC)
    assert await locks.acquire(db, "migrate", "of-the-dead", taken_at, lease)

    done = await migrate(db)

    assert len(done) == len(read_migrations(db.dialect_name))
    assert datetime.now(UTC) >= taken_at + lease


async def test_the_migrations_produce_the_schema_in_the_code(
    request: pytest.FixtureRequest, tmp_path: Path, connect_blank: Connect
) -> None:
    migrated = connect_blank()
    await migrate(migrated)
    led_to = await catalog(migrated)

    async with blank(request, request.node.callspec.params["connect_blank"], tmp_path) as connect:
        drawn = connect()
        await create_as_drawn(drawn)
        assert led_to == await catalog(drawn)
        await drawn.close()


async def test_a_database_of_a_newer_feedmill_is_refused_and_left_alone(connect_blank: Connect) -> None:
    db = connect_blank()
    await migrate(db)
    before = await catalog(db)
    await record_begin(db, 9999, "9.0.0")

    with pytest.raises(NewerSchema, match=r"9\.0\.0, schema 9999"):
        await migrate(db)
    assert await catalog(db) == before


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_migrations_are_numbered_from_one_without_a_gap(dialect: str) -> None:
    versions = [migration.version for migration in read_migrations(dialect)]

    assert versions == list(range(1, len(versions) + 1))


def test_every_dialect_has_the_same_migrations() -> None:
    names = [[(m.version, m.name) for m in read_migrations(dialect)] for dialect in DIALECTS]

    assert names[0] == names[1] == names[2]


class RepeatsStatements:
    """A database that runs each statement of a migration twice, as one that is killed between them does."""

    def __init__(self, db: Database) -> None:
        self.dialect_name, self.query, self.batch = db.dialect_name, db.query, db.batch
        self._db = db

    async def exec(self, sql: str) -> None:
        await self._db.exec(sql)
        if not await is_done_already(self._db, sql):
            await self._db.exec(sql)


async def migrate_until_killed(db: Database, share: float) -> None:
    """Runs only a share of the first migration's statements, and records nothing."""
    statements = read_migrations(db.dialect_name)[0].statements
    for table in (schema.locks, schema.migrations):
        await db.exec(
            one_line(CreateTable(table, if_not_exists=True).compile(dialect=sqlalchemy_dialect(db.dialect_name)))
        )
    for statement in statements[: round(len(statements) * share)]:
        await db.exec(statement)


async def missing_tables(db: Database) -> set[str]:
    there = {line.split()[0] for line in await catalog(db)}
    return set(schema.metadata.tables) - there


async def create_as_drawn(db: Database) -> None:
    dialect = sqlalchemy_dialect(db.dialect_name)
    for table in schema.metadata.sorted_tables:
        await db.exec(one_line(CreateTable(table).compile(dialect=dialect)))
        for index in table.indexes:
            await db.exec(one_line(CreateIndex(index).compile(dialect=dialect)))


def one_line(sql: object) -> str:
    return " ".join(str(sql).split())
