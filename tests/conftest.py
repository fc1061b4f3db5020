"""Fixtures of the real services, each started once per worker and only when a test needs it."""

import gc
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

from feedmill.store.database import Database
from tests.cli.tmpfs import skip_or_fail_in_ci
from tests.memory_folder import use_memory_folder
from tests.run_order import long_tests_first
from tests.services.server import ServiceMissing
from tests.worker_reports import reports_less, run_and_report

# Imported when a test needs one, so that other tests start faster.
POSTGRES = "tests.services.postgres:running_postgres"
LATER_POSTGRES = "tests.services.postgres:later_postgres"
MARIADB = "tests.services.mariadb:running_mariadb"
REDIS = "tests.services.redis:running_redis"
S3 = "tests.services.s3:running_s3"
D1 = "tests.services.d1:running_d1"
CHROMIUM = "tests.services.chromium:running_chromium"
NEWSBOAT = "tests.services.newsboat:installed_newsboat"
LATER_NEWSBOAT = "tests.services.newsboat:later_newsboat"
LIFEREA = "tests.services.desktop_readers:installed_liferea"
CONTAINERS = "tests.services.containers:running_engine"
DEBIAN = "tests.services.containers:engine_with_debian"
RSSGUARD = "tests.services.desktop_readers:installed_rssguard"
EMPTY_DATABASE = "tests.databases:emptied"
CHEAP_HASHES = "tests.password_hashes:cheap_hashes"
REAL_HASHES = "tests.password_hashes:real_hashes"
LOG_RENDERER = "structlog.dev:ConsoleRenderer"
PLAIN_TRACEBACK = "structlog.dev:plain_traceback"
PROPERTY_PROFILE = "tests.examples:use_profile"

SERVICE_FIXTURES = {
    f"{name}_service" for name in ("postgres", "later_postgres", "mariadb", "redis", "s3", "d1", "chromium")
}
SERVICE_PARAMETERS = {"postgresql", "mariadb", "d1", "redis", "s3"}
# Folders whose tests start commands, servers or browsers.
PROCESS_FOLDERS = (
    "tests/browser",
    "tests/cli",
    "tests/deploy",
    "tests/design_programs",
    "tests/faults",
    "tests/reader_programs",
    "tests/serve/mcp",
    "tests/websub",
)
# Processes that a test of `make check` may start: the product's parser of large feeds, mounts of small disks, and
# programs that Python runs to identify the machine.
ALLOWED_PROCESSES = ("feedmill.collect.parsing.parse_off_loop", "mount", "umount", "uname")
# Tests that take seconds.
LONG_TESTS = (
    "tests/faults",
    "tests/browser",
    "tests/reader_programs",
    "tests/cli",
    "tests/html/test_sanitize_in_chromium.py",
    "tests/hostile",
    "tests/serve/rest/test_schemathesis.py",
    "tests/docs/test_running_pages.py",
    "tests/docs/test_tutorial.py",
    "tests/deploy",
    "tests/contracts/test_later_postgres.py",
)

# Collecting tests makes hundreds of thousands of objects and no garbage: see `pytest_collection_finish`.
gc.disable()

used: list[str] = []
missing: dict[str, str] = {}
processes: list[str] = []


def _service(request: pytest.FixtureRequest, name: str, starter: str) -> Iterator[Any]:
    if _is_check(request.config):
        pytest.skip(f"this test needs {name}, which make check does not start; make test runs it")
    if name in missing:
        skip_or_fail_in_ci(f"{name} can't be had: {missing[name]}")
    try:
        running = resolve_name(starter)()
        service = running.__enter__()
    except ServiceMissing as why:
        missing[name] = str(why)
        skip_or_fail_in_ci(f"{name} can't be had: {why}")
    if (version := f"{service.name} {service.version}") not in used:
        used.append(version)
    try:
        yield service
    finally:
        running.__exit__(None, None, None)


@pytest.fixture(scope="session")
def postgres_service(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield from _service(request, "PostgreSQL", POSTGRES)


@pytest.fixture(scope="session")
def later_postgres_service(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield from _service(request, "PostgreSQL 17", LATER_POSTGRES)


@pytest.fixture(scope="session")
def mariadb_service(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield from _service(request, "MariaDB", MARIADB)


@pytest.fixture(scope="session")
def redis_service(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield from _service(request, "Redis", REDIS)


@pytest.fixture(scope="session")
def s3_service(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield from _service(request, "S3", S3)


@pytest.fixture(scope="session")
def d1_service(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield from _service(request, "D1", D1)


@pytest.fixture(scope="session")
def running_chromium(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield from _service(request, "Chromium", CHROMIUM)


@pytest.fixture
def chromium_service(running_chromium: Any) -> Iterator[Any]:
    """The browser for one test: its event loop must not stay for the next test that runs its own."""
    with running_chromium.in_use():
        yield running_chromium


@pytest.fixture(scope="session")
def newsboat_service(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield from _service(request, "newsboat", NEWSBOAT)


@pytest.fixture(scope="session")
def later_newsboat_service(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield from _service(request, "a later newsboat", LATER_NEWSBOAT)


@pytest.fixture(scope="session")
def liferea_service(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield from _service(request, "Liferea", LIFEREA)


@pytest.fixture(scope="session")
def rssguard_service(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield from _service(request, "RSS Guard", RSSGUARD)


@pytest.fixture(scope="session")
def container_engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield from _service(request, "podman", CONTAINERS)


@pytest.fixture(scope="session")
def debian_engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield from _service(request, "podman", DEBIAN)


@pytest.fixture(scope="session", autouse=True)
def cheap_password_hashes() -> Iterator[None]:
    with resolve_name(CHEAP_HASHES)():
        yield


@pytest.fixture(scope="session", autouse=True)
def plain_tracebacks() -> None:
    """Logged exceptions as Python prints them: structlog's own form, with every variable, takes half a second each."""
    resolve_name(LOG_RENDERER).get_active().exception_formatter = resolve_name(PLAIN_TRACEBACK)


@pytest.fixture
def real_password_hashes() -> Iterator[None]:
    """The real cost of password hashes, for tests of hashing itself."""
    with resolve_name(REAL_HASHES)():
        yield


@pytest.fixture(scope="session")
def is_check(pytestconfig: pytest.Config) -> bool:
    """Whether this is `make check`, for a test whose full form takes seconds: it runs in `make test`."""
    return _is_check(pytestconfig)


@pytest.fixture(scope="session")
def size_share(is_check: bool) -> float:
    """The part of its full length and of its time limit that a long hostile text has: an eighth in `make check`."""
    return 1 / 8 if is_check else 1.0


@pytest.fixture(params=["sqlite", "postgresql"])
async def db(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """A migrated, empty database on SQLite and on PostgreSQL, for flows."""
    async with resolve_name(EMPTY_DATABASE)(request, request.param, tmp_path) as database:
        yield database


@pytest.fixture(params=["sqlite", "postgresql", "mariadb", "d1"])
async def any_db(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """A migrated, empty database on each of the four, for contracts."""
    async with resolve_name(EMPTY_DATABASE)(request, request.param, tmp_path) as database:
        yield database


def pytest_configure(config: pytest.Config) -> None:
    resolve_name(PROPERTY_PROFILE)(_is_check(config))
    if _is_check(config):
        sys.addaudithook(_note_process)
        use_memory_folder()
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(number: int, frame: object) -> None:
    """Does what the default handler does. Each `asyncio.Runner` would replace that one, which is slow."""
    raise KeyboardInterrupt


def _is_check(config: pytest.Config) -> bool:
    return "not external" in config.option.markexpr


def _note_process(event: str, arguments: tuple[Any, ...]) -> None:
    """Records every process that is started in this process."""
    if event == "subprocess.Popen":
        command = [str(part) for part in arguments[1]]
        if not any(part in ALLOWED_PROCESSES for part in command):
            processes.append(" ".join(command))
    elif event in ("os.fork", "os.posix_spawn"):
        processes.append(event)


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    if not (_is_check(item.config) and reports_less(item.config)):
        return None
    run_and_report(item, nextitem)
    return True


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Fails a test of `make check` that started a process."""
    started = processes.copy()
    processes.clear()
    if started:
        pytest.fail(f"mark this test external, for it starts {started[0][:300]}")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Excludes folders with only external tests from `make check`, before their modules are imported."""
    if not _is_check(config):
        return None
    return collection_path.relative_to(config.rootpath).as_posix() in PROCESS_FOLDERS or None


def pytest_collection_finish() -> None:
    """Excludes modules and tests, which live until the end, from garbage collections, which are enabled now."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests that need a server, a browser or a process, so that `make check` can leave them out.

    With several workers, long tests come first.
    """
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        needs_service = SERVICE_FIXTURES & set(getattr(item, "fixturenames", ()))
        chosen = {value for value in parameters.values() if isinstance(value, str)} & SERVICE_PARAMETERS
        if needs_service or chosen or item.nodeid.startswith(PROCESS_FOLDERS):
            item.add_marker(pytest.mark.external)
    if (workers := int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))) > 1:
        long = [item for item in items if item.nodeid.startswith(LONG_TESTS)]
        others = [item for item in items if not item.nodeid.startswith(LONG_TESTS)]
        items[:] = long_tests_first(long, others, workers)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Passes the services of a worker to the process that prints the summary."""
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output.update(services_used=used, services_missing=missing)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    output = getattr(node, "workeroutput", {})
    used.extend(name for name in output.get("services_used", []) if name not in used)
    missing.update(output.get("services_missing", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if used:
        terminalreporter.write_line(f"services used: {', '.join(sorted(used))}")
    for name, why in missing.items():
        terminalreporter.write_line(f"SERVICE MISSING: {name}: its suites did not run ({why})", red=True)
