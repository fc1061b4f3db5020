"""What the units for systemd promise."""

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

from feedmill.cli import COMMANDS
from feedmill.collect.parsing.parse_off_loop import THREAD_WELL_FORMED
from feedmill.settings import PREFIX, Settings
from tests.cli.command import Process, StartCommand, feedmill, serving
from tests.cli.new_interpreter import COMMAND
from tests.cli.tmpfs import skip_or_fail_in_ci
from tests.scripted_web import Answer, Web
from tests.services.server import ServiceMissing
from tests.services.system_call_filter import system_call_filter
from tests.waiting import wait_until

UNITS = sorted((Path(__file__).parents[2] / "deploy" / "systemd").glob("*.service"))
LARGE_FEED = b"""<rss version="2.0"><channel><title>Harbour birds</title>
<item><guid>1</guid><title>A grey heron</title><description>%b</description></item></channel></rss>"""


def _hardening(unit: Path) -> str:
    return unit.read_text().partition("\nUMask=")[2].partition("[Install]")[0]


def test_there_is_one_for_each_way_to_run() -> None:
    roles = ["feedmill-api", "feedmill-scheduler", "feedmill-worker@", "feedmill"]

    assert [unit.stem for unit in UNITS] == roles


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_it_starts_a_command_of_ours_as_nobody_in_particular(unit: Path) -> None:
    lines = unit.read_text().splitlines()
    [command] = [line.split()[-1] for line in lines if line.startswith("ExecStart=")]
    told = [word.split("=")[0] for line in lines if line.startswith("Environment=") for word in line[12:].split()]

    assert command in COMMANDS
    assert "User=feedmill" in lines
    assert {name.removeprefix(PREFIX).lower() for name in told} <= set(Settings.fields)


def test_all_of_them_may_do_equally_little() -> None:
    assert len({_hardening(unit) for unit in UNITS}) == 1
    assert "NoNewPrivileges=yes" in _hardening(UNITS[0])


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_it_may_open_a_file_for_every_connection_that_it_takes(unit: Path) -> None:
    [limit] = [line.partition("=")[2] for line in unit.read_text().splitlines() if line.startswith("LimitNOFILE=")]

    assert int(limit) > 2 * Settings.fields["max_connections"].default


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_it_goes_on_when_the_kernel_kills_the_parser_of_a_large_document(unit: Path) -> None:
    assert "OOMPolicy=continue" in unit.read_text().splitlines()


# Those of the other units are the same.
@pytest.mark.external
async def test_the_system_calls_that_it_allows_are_enough_to_fetch_a_large_feed(tmp_path: Path) -> None:
    try:
        load_filter = system_call_filter(UNITS[-1].read_text())
    except ServiceMissing as missing:
        skip_or_fail_in_ci(str(missing))

    def start(*args: str, cwd: Path, streams: tuple[int, int, int], env: dict[str, str], **_: object) -> Process:
        stdin, stdout, stderr = streams
        return subprocess.Popen(
            [*COMMAND, *args], cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr, preexec_fn=load_filter
        )

    async with Web() as web:
        url = web.serve("/feed", Answer(LARGE_FEED % (b"By the lock. " * (THREAD_WELL_FORMED // 12))))
        await asyncio.to_thread(_fetch_declared, url, tmp_path, start)


def _fetch_declared(url: str, folder: Path, start: StartCommand) -> None:
    (folder / "feeds.yaml").write_text(f"- {url}\n")
    settings = {"feeds_file": "feeds.yaml", "allow_private": "127.0.0.0/8"}

    def is_fetched() -> bool:
        feeds = [json.loads(line) for line in feedmill("feeds", "--json", cwd=folder).stdout.splitlines()]
        assert [feed["last_error"] for feed in feeds if feed["last_error"]] == []
        return [feed["entries"] for feed in feeds] == [1]

    with serving(cwd=folder, settings=settings, start=start) as server:
        wait_until(is_fetched, otherwise="the feed is not fetched")
        assert server.stop() == 0
