"""The life of an installation on an empty Debian 12, with the commands of `docs/running/install.md`.

How many seconds each step took is a property of the test in the report that `pytest --junit-xml=FILE` writes.
"""

import asyncio
import hashlib
import json
import os
import re
import sqlite3
import tomllib
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest

from feedmill import __version__
from feedmill.optional_imports import EXTRA_OF_PACKAGE
from tests.deploy.debian_machine import PASSWORD, USER, DebianMachine, debian_machine
from tests.deploy.wheel import NEXT_SCHEMA, NEXT_VERSION, ROOT, build_next_wheel
from tests.docs.pages import blocks
from tests.scripted_web import Answer, Web
from tests.waiting import wait_until

PAGE = (ROOT / "docs" / "running" / "install.md").read_text()
FEED_ON_PAGE = "https://example.org/feed.xml"
BACKUP_ON_PAGE = "feedmill-backup-2027-01-31"
UNIT = ".config/systemd/user/feedmill.service"
COMMAND = ".local/bin/feedmill"
DATA = f"/home/{USER}/.local/share/feedmill"
FEED = b"""<rss version="2.0"><channel><title>Harbour birds</title>
<item><guid>1</guid><title>A grey heron</title><description>By the lock.</description></item></channel></rss>"""
# What a backup must bring back; the rest is about fetches, jobs and sessions, and goes on while the server runs.
CONTENT = {
    "users": "name, password_hash",
    "feeds": "id, url, title",
    "subscriptions": "user_id, feed_id",
    "entries": "id, feed_id, guid, title",
    "states": "user_id, entry_id, starred_at",
}


@pytest.fixture
def machine(
    debian_engine: Any, wheel: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> Iterator[DebianMachine]:
    with debian_machine(debian_engine, tmp_path, FEEDMILL_ALLOW_PRIVATE="127.0.0.0/8") as machine:
        machine.offer(wheel)
        yield machine
    for step, seconds in machine.seconds.items():
        record_property(step, f"{seconds:.1f}")


# It installs the package from the Internet, and waits for that.
@pytest.mark.timeout(900)
async def test_the_page_installs_serves_upgrades_backs_up_restores_and_removes(
    machine: DebianMachine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    next_wheel = await asyncio.to_thread(build_next_wheel, tmp_path_factory.mktemp("next"))

    async with Web() as web:
        await asyncio.to_thread(_live, machine, web.serve("/feed", Answer(FEED)), next_wheel)


@pytest.mark.drill
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("tool", ["pipx", "uv"])
def test_a_tool_installs_upgrades_and_removes(
    tool: str, machine: DebianMachine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    next_wheel = build_next_wheel(tmp_path_factory.mktemp("next"))
    install, upgrade, remove = _commands_of(tool)
    machine.type(f"python3 -m venv tools && tools/bin/pip install {tool}")
    machine.type(f"mkdir -p .local/bin && ln -s ~/tools/bin/{tool} .local/bin/")

    with machine.step("install"):
        machine.type(install)
    assert machine.type("feedmill --version") == f"feedmill {__version__}\n"
    machine.type("feedmill migrate && feedmill doctor")

    machine.offer(next_wheel)
    with machine.step("upgrade"):
        machine.type(upgrade)
    assert machine.type("feedmill --version") == f"feedmill {NEXT_VERSION}\n"

    kept = _digests(machine.home / ".local/share/feedmill")
    with machine.step("remove"):
        machine.type(remove)
    assert sorted(path.name for path in (machine.home / ".local/bin").iterdir()) == [tool]
    assert _digests(machine.home / ".local/share/feedmill") == kept


@pytest.mark.drill
@pytest.mark.timeout(1800)
def test_every_extra_is_installed_without_a_compiler(machine: DebianMachine, wheel: Path) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    wheels_alone = "~/feedmill/bin/pip install --only-binary :all: --no-binary http-ece"
    machine.type("python3 -m venv ~/feedmill")

    for extra in extras:
        with machine.step(extra):
            machine.type(f"{wheels_alone} '/wheels/{wheel.name}[{extra}]'")
        packages = [package for package, its_extra in EXTRA_OF_PACKAGE.items() if its_extra == extra]
        machine.type(f"~/feedmill/bin/python -c '{'; '.join(f'import {name}' for name in packages)}'")
        machine.type("~/feedmill/bin/feedmill migrate && ~/feedmill/bin/feedmill doctor")

    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == set(extras)


def _commands_of(tool: str) -> list[str]:
    """How the page installs, upgrades and removes with a tool."""
    return re.findall(rf"`({tool} [^`]* feedmill)`", PAGE)[:3]


def _live(machine: DebianMachine, url: str, next_wheel: Path) -> None:
    # All blocks of the page, in its order. Nothing starts at boot here, because no systemd runs.
    prepare, install, start, subscribe, unit, _boot, backup, upgrade, restore, remove = (
        block.text for block in blocks(PAGE)
    )
    with machine.step("prepare"):
        machine.type_as_root(prepare)
    before = machine.files()

    with machine.step("install"):
        machine.type(install)
    with machine.step("start"):
        assert machine.type(start) == f"feedmill {__version__}\n"
        _wait_until_it_answers(machine)
    assert _first_line(machine) == f"Feedmill {__version__} keeps its data in {DATA}"
    with machine.step("subscribe"):
        machine.type(subscribe.replace(FEED_ON_PAGE, url))
    reader = Reader(machine)
    reader.star("A grey heron")
    reader.check()

    machine.type(unit)
    assert f"ExecStart=%h/{COMMAND} serve\n" in (machine.home / UNIT).read_text()
    assert os.path.lexists(machine.home / COMMAND)

    with machine.step("back up"):
        machine.type(backup)
    [backup_folder] = machine.home.glob("feedmill-backup-*")
    assert machine.stop_server() == 0, machine.server_output()
    saved = _content(machine.home / ".local/share/feedmill")

    machine.offer(next_wheel)
    with machine.step("upgrade"):
        machine.type(upgrade)
        _wait_until_it_answers(machine)
    assert _first_line(machine) == f"Feedmill {NEXT_VERSION} keeps its data in {DATA}"
    reader.check()
    assert _schema(machine.home / ".local/share/feedmill") == NEXT_SCHEMA

    with machine.step("restore"):
        assert "Harbour birds" in machine.type(restore.replace(BACKUP_ON_PAGE, backup_folder.name))
    assert machine.stop_server() == 0, machine.server_output()
    assert _content(machine.home / "restored") == saved
    assert _content(machine.home / ".local/share/feedmill") == saved

    kept = _digests(machine.home / ".local/share/feedmill")
    with machine.step("remove"):
        machine.type(f"rm ~/{UNIT}\n{remove}")
    assert _digests(machine.home / ".local/share/feedmill") == kept
    assert _outside(machine.files() - before) == set()


class Reader:
    """Somebody who reads over the API and on the pages."""

    def __init__(self, machine: DebianMachine) -> None:
        self._site = f"http://127.0.0.1:{machine.port}"
        self._key = machine.type(f"feedmill user key {USER}").split()[-1]

    def star(self, title: str) -> None:
        [found] = [entry["id"] for entry in self._entries("all") if entry["title"] == title]
        self._ask("/api/entries/mark", {"ids": [found], "starred": True})

    def check(self) -> None:
        """The starred entry is there, and the account with its password."""
        assert [entry["title"] for entry in self._entries("starred")] == ["A grey heron"]
        assert "A grey heron" in self._page("/starred")

    def _entries(self, view: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = json.loads(self._ask(f"/api/entries?view={view}"))["items"]
        return items

    def _ask(self, path: str, body: object = None) -> bytes:
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self._site + path, data, headers)) as response:
            content: bytes = response.read()
        return content

    def _page(self, path: str) -> str:
        """A page as a browser gets it after signing in."""
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        form = urllib.parse.urlencode({"name": USER, "password": PASSWORD, "next": path}).encode()
        with browser.open(f"{self._site}/login", form) as response:
            page: str = response.read().decode()
        return page


def _wait_until_it_answers(machine: DebianMachine) -> None:
    def answers() -> bool:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{machine.port}/health/live").close()
        except OSError:
            return False
        return True

    wait_until(answers, otherwise="the server does not answer")


def _first_line(machine: DebianMachine) -> str:
    """What the server printed first. It comes through podman, perhaps later than the first answer."""
    wait_until(lambda: "\n" in machine.server_output(), otherwise="the server prints nothing")
    return machine.server_output().splitlines()[0]


def _content(data: Path) -> dict[str, Any]:
    """The rows of the tables that people care for, and all objects."""
    with closing(sqlite3.connect(data / "feedmill.db")) as db:
        rows = {name: sorted(db.execute(f"SELECT {columns} FROM {name}")) for name, columns in CONTENT.items()}
    return {**rows, "objects": _digests(data / "objects")}


def _schema(data: Path) -> int:
    with closing(sqlite3.connect(data / "feedmill.db")) as db:
        [(version,)] = db.execute("SELECT max(version) FROM migrations WHERE applied_at IS NOT NULL")
    return int(version)


def _digests(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _outside(files: set[str]) -> set[str]:
    """Those that are neither data, nor made by a command of the page, nor what an installer has downloaded."""
    home = f"/home/{USER}"
    expected = (DATA, f"{home}/feedmill-backup", f"{home}/restored", f"{home}/.cache")
    folders = {"/tmp", f"{home}/.local", f"{home}/.local/bin", f"{home}/.local/share", f"{home}/.config"}
    folders |= {f"{home}/.config/systemd", f"{home}/.config/systemd/user"}
    return {file for file in files if not file.startswith(expected)} - folders
