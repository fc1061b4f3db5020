"""A database that a newer Feedmill has migrated: every command refuses it, and running processes stop."""

import asyncio
import os
from pathlib import Path
from secrets import token_hex

import pytest

from feedmill.cli import COMMANDS
from feedmill.store.drivers.sqlite import SqliteDatabase
from tests.cli.command import LONGEST_COMMAND, environment, feedmill
from tests.databases import blank_settings
from tests.fork_server.client import ForkedProcess, fork_server
from tests.services.redis import own_redis
from tests.services.server import free_port
from tests.sqlite_template import copy_template
from tests.store.next_version import record_begin
from tests.store.test_upgrades import run_migration
from tests.waiting import until

# What each command needs to get as far as the database.
ARGUMENTS = {
    "add": ["https://example.org/feed"],
    "backup": ["kept"],
    "export": ["-"],
    "filter": ["list", "alice"],
    "import": ["feeds.opml"],
    "mcp": ["alice"],
    "output-feed": ["list", "alice"],
    "pause": ["1"],
    "pool": ["list"],
    "refresh": ["--all"],
    "remove": ["--yes", "1"],
    "restore": ["--all"],
    "resume": ["1"],
    "serve": ["--port", str(free_port())],
    "show": ["1"],
    "user": ["list"],
    "views": ["create"],
    "why": ["1"],
}
WITHOUT_DATABASE = {"parse", "settings", "completion", "demo"}
# It reports it in its own form, among other findings.
DIAGNOSES = {"doctor"}
# With PostgreSQL and Redis, below.
SCALED_OUT = {"api", "scheduler", "worker"}
TELLS_WHAT_TO_DO = ("9.9.0", "this is 0.", "install 9.9.0 or later", "load a backup")


async def test_every_command_refuses_it_in_one_line_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "feeds.opml").write_text("<opml version='2.0'><body/></opml>")
    file = tmp_path / "data" / "feedmill.db"
    before = await make_newer_database(file)

    for name in COMMANDS.keys() - WITHOUT_DATABASE - DIAGNOSES - SCALED_OUT:
        done = feedmill("--data", "data", name, *ARGUMENTS.get(name, []), cwd=tmp_path)

        [line] = done.stderr.splitlines()
        assert (done.returncode, [word for word in TELLS_WHAT_TO_DO if word not in line]) == (1, []), (name, line)
    assert file.read_bytes() == before


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() & DIAGNOSES))
async def test_a_diagnosis_reports_it(tmp_path: Path, name: str) -> None:
    await make_newer_database(tmp_path / "data" / "feedmill.db")

    done = feedmill("--data", "data", name, cwd=tmp_path)

    assert done.returncode == 1
    assert [line for line in done.stdout.splitlines() if all(word in line for word in TELLS_WHAT_TO_DO)]


async def test_a_running_server_stops_and_the_new_version_goes_on(tmp_path: Path) -> None:
    await copy_template(tmp_path / "data" / "feedmill.db")

    await upgrade_beside(["serve", "--port", str(free_port())], tmp_path, {"data": str(tmp_path / "data")})


@pytest.mark.parametrize("role", sorted(SCALED_OUT))
async def test_a_running_process_stops_and_the_new_version_goes_on(
    request: pytest.FixtureRequest, tmp_path: Path, role: str
) -> None:
    listen = ["--port", str(free_port())] if role == "api" else []
    with own_redis() as redis:
        async with blank_settings(request, "postgresql", tmp_path) as database:
            settings = database | {"redis": redis.service.url, "secret_key": token_hex(32), "data": str(tmp_path)}

            await upgrade_beside([role, *listen], tmp_path, settings)


async def upgrade_beside(command: list[str], folder: Path, settings: dict[str, str]) -> None:
    """Starts an old process, migrates by another one of the next version, and looks at how both end."""
    out, errors = folder / "old.out", folder / "old.err"
    old = start_old(command, folder, settings, out, errors)
    try:
        await until(lambda: "is running" in out.read_text(), otherwise="the old process does not run")
        assert await asyncio.to_thread(run_migration, folder, settings) == 0
        code = await asyncio.to_thread(old.wait, LONGEST_COMMAND)
    finally:
        old.kill()

    assert code == 1, errors.read_text()
    assert "install 99.0.0 or later" in errors.read_text().splitlines()[-1]


def start_old(command: list[str], folder: Path, settings: dict[str, str], out: Path, errors: Path) -> ForkedProcess:
    with open(os.devnull) as nothing, out.open("w") as to_out, errors.open("w") as to_errors:
        return fork_server().start(
            "tests.cli.old_version:run_and_look_often",
            command,
            folder=folder,
            environment=environment(settings),
            streams=(nothing.fileno(), to_out.fileno(), to_errors.fileno()),
        )


async def make_newer_database(file: Path) -> bytes:
    await copy_template(file)
    file.chmod(0o600)
    db = SqliteDatabase(file)
    await record_begin(db, 999, "9.9.0")
    await db.close()
    return file.read_bytes()
