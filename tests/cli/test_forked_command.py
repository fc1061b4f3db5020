"""A forked command behaves like one in a new interpreter, so that tests can use either."""

import os
import signal
import stat
from pathlib import Path

import pytest

from tests.cli import command, new_interpreter
from tests.cli.command_line import CommandLine
from tests.fork_server.client import fork_server


@pytest.mark.parametrize(
    ("args", "settings"),
    [
        (("--version",), {}),
        (("--help",), {}),
        (("add",), {}),
        (("migrat",), {}),
        (("migrate",), {"database": "oracle://host"}),
        (("settings", "--json"), {"port": "9000"}),
        (("user", "add", "älice"), {}),
    ],
)
def test_a_forked_command_prints_and_exits_like_one_in_a_new_interpreter(
    tmp_path: Path, args: tuple[str, ...], settings: dict[str, str]
) -> None:
    (tmp_path / "forked").mkdir()
    (tmp_path / "new").mkdir()

    forked = command.feedmill(*args, cwd=tmp_path / "forked", settings=settings, typed="short\n")
    new = new_interpreter.feedmill(*args, cwd=tmp_path / "new", settings=settings, typed="short\n")

    assert (forked.returncode, forked.stdout, forked.stderr) == (new.returncode, new.stdout, new.stderr)


def test_an_unexpected_error_ends_a_forked_command_with_its_traceback(tmp_path: Path) -> None:
    done = command.feedmill("--debug", "migrate", cwd=tmp_path, settings={"database": "oracle://host"})

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Traceback")


def test_a_forked_command_does_not_change_its_parent(tmp_path: Path) -> None:
    before = (Path.cwd(), dict(os.environ), _mode_of_new_file(tmp_path / "before"))

    command.feedmill("migrate", cwd=tmp_path, settings={"data": "first"})
    command.feedmill("migrate", cwd=tmp_path)

    assert (Path.cwd(), dict(os.environ), _mode_of_new_file(tmp_path / "after")) == before
    assert (tmp_path / "first" / "feedmill.db").exists()
    assert (tmp_path / "data" / "feedmill.db").exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGUSR1])
def test_a_forked_command_that_is_killed_exits_with_the_signal(tmp_path: Path, number: signal.Signals) -> None:
    with command.serving(cwd=tmp_path) as server:
        assert server.process.poll() is None

        assert server.stop(number) == -number


async def test_a_forked_command_detects_a_terminal(cli: CommandLine) -> None:
    await cli.ok("add", "--no-fetch", "--title", "A title", cli.web.url("/feed"))

    assert "\t" in (await cli.ok("feeds")).out
    assert "\t" not in await cli.on_terminal("feeds")


def test_an_error_before_the_command_is_reported(tmp_path: Path) -> None:
    with open(os.devnull) as nothing, (tmp_path / "err").open("w") as err:
        streams = (nothing.fileno(), err.fileno(), err.fileno())
        process = fork_server().start(
            "tests.cli.command:run_command", ["migrate"], folder=tmp_path / "missing", environment={}, streams=streams
        )

    assert process.wait(60) == 1
    assert "FileNotFoundError" in (tmp_path / "err").read_text()


@pytest.mark.parametrize("umask", [0, 0o027])
def test_a_forked_process_has_the_umask_of_its_caller(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    with open(os.devnull) as nothing:
        streams = (nothing.fileno(), nothing.fileno(), nothing.fileno())
        process = fork_server().start("os:mkdir", "new", folder=tmp_path, environment={}, streams=streams)
    os.umask(before)

    assert process.wait(60) == 0
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o777 & ~umask


def _mode_of_new_file(path: Path) -> int:
    path.touch()
    return stat.S_IMODE(path.stat().st_mode)
