"""What the image promises: exactly what was locked, and no rights."""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from feedmill.cli import COMMANDS
from feedmill.settings import PREFIX, Settings
from tests.cli.command import environment
from tests.scripted_web import Answer, Web
from tests.services.server import free_port

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "deploy" / "Dockerfile").read_text()
# One instruction a line, as it would be run.
LINES = [line for line in re.sub(r"\\\n\s*", " ", TEXT).splitlines() if line and not line.startswith("#")]
LAST_STAGE = LINES[max(number for number, line in enumerate(LINES) if line.startswith("FROM ")) :]


def _told(instruction: str, lines: list[str]) -> list[str]:
    return [line.removeprefix(f"{instruction} ") for line in lines if line.startswith(f"{instruction} ")]


def test_what_is_copied_is_there_and_not_ignored() -> None:
    copied = {name for line in _told("COPY", LINES) if "--from" not in line for name in line.split()[:-1]}
    let_through = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text().splitlines()

    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert {f"!{name}" for name in copied} == {line for line in let_through if line.startswith("!")}


def test_it_runs_as_nobody_in_particular() -> None:
    [user] = _told("USER", LAST_STAGE)

    assert int(user) >= 1000
    assert LAST_STAGE.index(f"USER {user}") < LAST_STAGE.index('ENTRYPOINT ["feedmill"]')


def test_only_what_the_lock_names_is_installed() -> None:
    [build, built, runtime, ours] = [install for line in LINES for install in re.findall(r"pip install [^&]*", line)]
    [wheel_of_lock, wheel] = [build for line in LINES for build in re.findall(r"pip wheel [^&]*", line)]

    assert "--require-hashes --requirement requirements-all.lock" in runtime
    assert "--require-hashes --requirement requirements-build.lock" in build
    assert "--require-hashes --requirement built.lock" in wheel_of_lock
    assert "--no-deps --no-build-isolation" in wheel_of_lock
    assert "--no-deps --no-build-isolation" in wheel
    assert "--no-deps" in ours
    assert "--no-deps" in built
    assert "pip" not in " ".join(LAST_STAGE)


@pytest.mark.external
async def test_its_health_is_asked_at_the_port_of_the_settings_and_never_by_a_proxy(tmp_path: Path) -> None:
    [check] = _told("HEALTHCHECK", LAST_STAGE)
    program = json.loads(check.partition("CMD ")[2])[-1]
    proxy = f"http://127.0.0.1:{free_port()}"

    async with Web() as web:
        url = urlsplit(web.serve("/health/ready", Answer(b"{}")))
        (tmp_path / "feedmill.toml").write_text(f"port = {url.port}\n")
        run = [sys.executable, "-c", program]
        done = await asyncio.to_thread(
            subprocess.run, run, cwd=tmp_path, env=environment(http_proxy=proxy), capture_output=True, text=True
        )

    assert done.returncode == 0, done.stderr
    assert len(web.requests) == 1


def test_it_starts_a_command_of_ours() -> None:
    [entry], [command] = _told("ENTRYPOINT", LAST_STAGE), _told("CMD", LAST_STAGE)

    assert json.loads(entry) == ["feedmill"]
    assert json.loads(command)[0] in COMMANDS


def test_every_variable_is_a_setting_of_ours() -> None:
    named = set(re.findall(rf"{PREFIX}\w+(?==)", TEXT))

    assert named == {f"{PREFIX}{name}" for name in ("DATA", "LISTEN")}
    assert {name.removeprefix(PREFIX).lower() for name in named} <= set(Settings.fields)
