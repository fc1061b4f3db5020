"""The real command line in a process forked from one that has imported the product.

A test about the start itself uses `tests.cli.new_interpreter`, which has the same functions.
"""

import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from tests.fork_server.client import ForkedProcess, fork_server
from tests.services.server import free_port
from tests.waiting import LONGEST_WAIT, wait_until

LONGEST_COMMAND = 120


class Process(Protocol):
    """A running command: forked, or `subprocess.Popen`."""

    pid: int

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, number: signal.Signals, /) -> None: ...
    def kill(self) -> None: ...


class StartCommand(Protocol):
    def __call__(
        self, *args: str, cwd: Path, streams: tuple[int, int, int], env: dict[str, str], open_files: int | None = None
    ) -> Process: ...


@dataclass(frozen=True)
class Server:
    """A running `feedmill serve`."""

    process: Process
    address: str
    output: Path

    def get(self, path: str) -> tuple[int, dict[str, Any]]:
        """The status and the JSON of a response."""
        try:
            with urllib.request.urlopen(self.address + path, timeout=LONGEST_WAIT) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Stops the server with a signal; its exit code."""
        self.process.send_signal(how)
        return self.process.wait(LONGEST_COMMAND)

    def printed(self) -> str:
        """What it wrote to standard output."""
        return self.output.read_text()


def run_command(args: list[str]) -> None:
    """The main function of the forked process: the same as `python -m feedmill`."""
    sys.argv = ["feedmill", *args]
    runpy.run_module("feedmill", run_name="__main__", alter_sys=True)


def start_command(
    *args: str, cwd: Path, streams: tuple[int, int, int], env: dict[str, str], open_files: int | None = None
) -> ForkedProcess:
    return fork_server().start(
        "tests.cli.command:run_command", list(args), folder=cwd, environment=env, streams=streams, open_files=open_files
    )


def feedmill(
    *args: str,
    cwd: Path,
    settings: dict[str, str] | None = None,
    typed: str = "",
    start: StartCommand = start_command,
    **env: str,
) -> subprocess.CompletedProcess[str]:
    """Runs one command in a folder, with settings from the environment and text on its standard input."""
    with tempfile.TemporaryFile("w+") as stdin, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        stdin.write(typed)
        stdin.seek(0)
        streams = (stdin.fileno(), out.fileno(), err.fileno())
        process = start(*args, cwd=cwd, streams=streams, env=environment(settings, **env))
        try:
            code = process.wait(LONGEST_COMMAND)
        finally:
            process.kill()
        return subprocess.CompletedProcess(args, code, _text(out), _text(err))


def environment(settings: dict[str, str] | None = None, **env: str) -> dict[str, str]:
    """Our own environment without its Feedmill settings, and with these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FEEDMILL_")}
    source = str(Path(__file__).parents[2] / "src")
    given = {f"FEEDMILL_{name.upper()}": value for name, value in (settings or {}).items()}
    return {**kept, "PYTHONPATH": os.pathsep.join([*filter(None, [kept.get("PYTHONPATH")]), source]), **given, **env}


@contextmanager
def serving(
    *args: str,
    cwd: Path,
    settings: dict[str, str] | None = None,
    command: str = "serve",
    open_files: int | None = None,
    start: StartCommand = start_command,
) -> Iterator[Server]:
    """A server that responds; it is stopped at the end of the block. `open_files` limits how many files it may open."""
    port = str(free_port())
    log, output = cwd / "serve.log", cwd / "serve.out"
    with open(os.devnull) as nothing, output.open("a") as out, log.open("a") as err:
        process = start(
            *args,
            command,
            "--port",
            port,
            cwd=cwd,
            env=environment(settings),
            open_files=open_files,
            streams=(nothing.fileno(), out.fileno(), err.fileno()),
        )
    server = Server(process, f"http://127.0.0.1:{port}", output)
    try:
        _wait_until_it_answers(server, log)
        yield server
    finally:
        process.kill()
        process.wait()


def _wait_until_it_answers(server: Server, log: Path) -> None:
    def answers() -> bool:
        assert server.process.poll() is None, f"the server ended at once: {log.read_text()}"
        try:
            server.get("/health/live")
        except OSError:
            return False
        return True

    wait_until(answers, otherwise=f"the server does not answer; see {log}")


def assert_one_line(done: subprocess.CompletedProcess[str], *words: str, code: int) -> None:
    """Checks that the command failed with exactly one line on stderr, which has these words."""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("feedmill: ")
    assert [word for word in words if word not in lines[0]] == [], lines[0]
    assert (done.returncode, done.stdout) == (code, "")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
