"""The real command line in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.services.server import free_port

COMMAND = [sys.executable, "-m", "feedmill"]
START_SECONDS = 60


@dataclass(frozen=True)
class Server:
    """A running `feedmill serve`."""

    process: subprocess.Popen[str]
    address: str

    def get(self, path: str) -> tuple[int, dict[str, Any]]:
        """The status and the JSON of an answer."""
        try:
            with urllib.request.urlopen(self.address + path, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Asks the server to end; its exit code."""
        self.process.send_signal(how)
        return self.process.wait(40)


def feedmill(
    *args: str, cwd: Path, settings: dict[str, str] | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    """Runs one command in a folder, with settings from the environment."""
    return subprocess.run(
        [*COMMAND, *args], cwd=cwd, env=environment(settings, **env), capture_output=True, text=True, timeout=120
    )


def environment(settings: dict[str, str] | None = None, **env: str) -> dict[str, str]:
    """Our own environment without its Feedmill settings, and with these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FEEDMILL_")}
    source = str(Path(__file__).parents[2] / "src")
    given = {f"FEEDMILL_{name.upper()}": value for name, value in (settings or {}).items()}
    return {**kept, "PYTHONPATH": os.pathsep.join([*filter(None, [kept.get("PYTHONPATH")]), source]), **given, **env}


@contextmanager
def serving(*args: str, cwd: Path, settings: dict[str, str] | None = None, command: str = "serve") -> Iterator[Server]:
    """A server that answers; it is ended with the block, if it still runs."""
    port = str(free_port())
    with (cwd / "serve.log").open("a") as log:
        process = subprocess.Popen(
            [*COMMAND, *args, command, "--port", port], cwd=cwd, env=environment(settings),
            stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
    server = Server(process, f"http://127.0.0.1:{port}")
    try:
        _wait_until_it_answers(server, cwd / "serve.log")
        yield server
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _wait_until_it_answers(server: Server, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.process.poll() is not None:
            raise AssertionError(f"the server ended at once: {log.read_text()}")
        try:
            server.get("/health/live")
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise AssertionError(f"the server did not answer within {START_SECONDS} s: {log.read_text()}")


def assert_one_line(done: subprocess.CompletedProcess[str], *words: str, code: int) -> None:
    """The command failed with one line on stderr that has these words, and nothing else."""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("feedmill: ")
    assert [word for word in words if word not in lines[0]] == [], lines[0]
    assert (done.returncode, done.stdout) == (code, "")
