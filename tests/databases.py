"""Databases for tests: the same schema on each of the four, emptied before each test."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex
from urllib.parse import urlsplit

import pytest

from feedmill.adapters.database import open_database
from feedmill.settings import load_settings
from feedmill.store.database import Database, Step
from feedmill.store.drivers.d1 import D1Database
from feedmill.store.drivers.mysql import MysqlDatabase
from feedmill.store.drivers.postgres import PostgresDatabase
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.migrations import migrate
from feedmill.store.schema import locks, metadata, migrations
from feedmill.store.views import VIEWS
from tests.services.d1 import TOKEN
from tests.sqlite_template import copy_template

# Tables that tests add to a database without tables: the synthetic next version's (`tests/store/next_version.py`).
TEST_TABLES = ("reading_times",)


def connect(request: pytest.FixtureRequest, kind: str, folder: Path) -> Database:
    """A new connection to this test's database of that kind."""
    match kind:
        case "sqlite":
            return SqliteDatabase(folder / "feedmill.db")
        case "postgresql":
            return PostgresDatabase(request.getfixturevalue("postgres_service").url)
        case "mariadb":
            return MysqlDatabase(request.getfixturevalue("mariadb_service").url)
        case _:
            service = request.getfixturevalue("d1_service")
            return D1Database(service.url, TOKEN)


@asynccontextmanager
async def emptied(request: pytest.FixtureRequest, kind: str, folder: Path) -> AsyncIterator[Database]:
    if kind == "sqlite":
        await copy_template(folder / "feedmill.db")
    database = connect(request, kind, folder)
    try:
        await migrate(database)
        if kind != "sqlite":
            await empty(database)
        yield database
    finally:
        await database.close()


async def empty(database: Database) -> None:
    tables = [table for table in reversed(metadata.sorted_tables) if table not in (migrations, locks)]
    drops = [f"DROP VIEW IF EXISTS {view}" for view in VIEWS]
    if isinstance(database, PostgresDatabase):
        # In one message: a new connection would prepare each statement first.
        deletes = [f"DELETE FROM {table.name}" for table in tables]
        # Ids of entries begin anew, as in a new installation: a gap of thousands would be a heap of missing entries.
        await database.exec(";".join([*drops, *deletes, "ALTER SEQUENCE entries_id_seq RESTART"]))
        return
    for drop in drops:
        await database.exec(drop)
    await database.batch([Step(table.delete()) for table in tables])


@asynccontextmanager
async def blank(request: pytest.FixtureRequest, kind: str, folder: Path) -> AsyncIterator[Callable[[], Database]]:
    """Creates connections to a database of that kind without tables."""
    async with blank_settings(request, kind, folder) as settings:
        yield lambda: open_database(load_settings(**settings))


@asynccontextmanager
async def blank_settings(request: pytest.FixtureRequest, kind: str, folder: Path) -> AsyncIterator[dict[str, str]]:
    """The settings with which any process reaches a database of that kind without tables."""
    if kind == "sqlite":
        yield {"database": f"sqlite:///{folder / token_hex(4)}.db"}
        return
    shared, settings = connect(request, kind, folder), settings_of(request, kind, folder)
    try:
        if kind == "d1":
            await _drop_tables(shared)
            yield settings
            await _drop_tables(shared)
            return
        name = f"blank_{token_hex(4)}"
        await shared.exec(f"CREATE DATABASE {name}")
        yield {"database": urlsplit(settings["database"])._replace(path=f"/{name}").geturl()}
        await shared.exec(f"DROP DATABASE {name}")
    finally:
        await shared.close()


async def _drop_tables(database: Database) -> None:
    for name in (*TEST_TABLES, "search_index", "search_unindexed", "search_texts"):
        await database.exec(f"DROP TABLE IF EXISTS {name}")
    for table in reversed(metadata.sorted_tables):
        await database.exec(f"DROP TABLE IF EXISTS {table.name}")


def settings_of(request: pytest.FixtureRequest, kind: str, folder: Path) -> dict[str, str]:
    """The settings with which another process reaches the same database as `connect`."""
    match kind:
        case "sqlite":
            return {"database": f"sqlite:///{folder / 'feedmill.db'}"}
        case "postgresql" | "mariadb":
            service = "postgres_service" if kind == "postgresql" else "mariadb_service"
            return {"database": request.getfixturevalue(service).url}
        case _:
            return {"database": f"d1+{request.getfixturevalue('d1_service').url}", "database_token": TOKEN}
