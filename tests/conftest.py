"""The real services that suites run on, each started once and only when a test asks for it."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from feedmill.store.database import Database
from tests.cli.disks import cannot
from tests.databases import emptied
from tests.services.chromium import running_chromium
from tests.services.d1 import running_d1
from tests.services.mariadb import running_mariadb
from tests.services.postgres import running_postgres
from tests.services.redis import running_redis
from tests.services.s3 import running_s3
from tests.services.server import ServiceMissing

used: list[str] = []
missing: dict[str, str] = {}


def _service(name: str, start: Callable[[], AbstractContextManager[Any]]) -> Iterator[Any]:
    if name in missing:
        cannot(f"{name} can't be had: {missing[name]}")
    try:
        running = start()
        service = running.__enter__()
    except ServiceMissing as why:
        missing[name] = str(why)
        cannot(f"{name} can't be had: {why}")
    if (version := f"{service.name} {service.version}") not in used:
        used.append(version)
    try:
        yield service
    finally:
        running.__exit__(None, None, None)


@pytest.fixture(scope="session")
def postgres_service() -> Iterator[Any]:
    yield from _service("PostgreSQL", running_postgres)


@pytest.fixture(scope="session")
def mariadb_service() -> Iterator[Any]:
    yield from _service("MariaDB", running_mariadb)


@pytest.fixture(scope="session")
def redis_service() -> Iterator[Any]:
    yield from _service("Redis", running_redis)


@pytest.fixture(scope="session")
def s3_service() -> Iterator[Any]:
    yield from _service("S3", running_s3)


@pytest.fixture(scope="session")
def d1_service() -> Iterator[Any]:
    yield from _service("D1", running_d1)


# For a file at a time: while Playwright runs, this thread has an event loop, and no other test may have one.
@pytest.fixture(scope="module")
def chromium_service() -> Iterator[Any]:
    yield from _service("Chromium", running_chromium)


@pytest.fixture(params=["sqlite", "postgresql"])
async def db(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """A migrated, empty database on SQLite and on PostgreSQL, for flows."""
    async with emptied(request, request.param, tmp_path) as database:
        yield database


@pytest.fixture(params=["sqlite", "postgresql", "mariadb", "d1"])
async def any_db(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """A migrated, empty database on each of the four, for contracts."""
    async with emptied(request, request.param, tmp_path) as database:
        yield database


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if used:
        terminalreporter.write_line(f"services used: {', '.join(used)}")
    for name, why in missing.items():
        terminalreporter.write_line(f"SERVICE MISSING: {name}: its suites did not run ({why})", red=True)
