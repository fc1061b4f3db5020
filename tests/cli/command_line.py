"""A data folder, a scripted web, and the real command line that uses both."""

import asyncio
import json
import os
import pty
import re
import signal
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from tests.cli.command import LONGEST_COMMAND, environment, feedmill, start_command
from tests.fork_server.client import ForkedProcess
from tests.scripted_web import Web

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


@dataclass(frozen=True)
class CommandResult:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True)
class CommandLine:
    """Runs commands in a data folder; their feeds are on the scripted web."""

    folder: Path
    web: Web
    settings: dict[str, str]

    async def run(
        self, *args: str, typed: str = "", run: Callable[..., CompletedProcess[str]] = feedmill, **more: str
    ) -> CommandResult:
        """Runs a command while the web responds."""
        settings = self.settings | more
        done = await asyncio.to_thread(run, *args, cwd=self.folder, settings=settings, typed=typed)
        return CommandResult(done.returncode, done.stdout, done.stderr)

    async def ok(self, *args: str, **more: str) -> CommandResult:
        done = await self.run(*args, **more)
        assert (done.code, done.err) == (0, ""), done
        return done

    async def on_terminal(self, *args: str, columns: int = 70) -> str:
        """What the command shows on a terminal, without colours and cursor movements."""
        return await asyncio.to_thread(self._on_terminal, args, columns)

    def _on_terminal(self, args: tuple[str, ...], columns: int) -> str:
        ours, theirs = pty.openpty()
        env = environment(self.settings, COLUMNS=str(columns), TERM="xterm")
        with open(os.devnull, "w") as nowhere:
            streams = (theirs, theirs, nowhere.fileno())
            process = start_command(*args, cwd=self.folder, env=env, streams=streams)
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b""))
        os.close(ours)
        assert process.wait(LONGEST_COMMAND) == 0
        return ESCAPES.sub("", shown.decode())

    def start(self, *args: str) -> "RunningCommand":
        """Starts a command without waiting for it."""
        out, err = self._new_file("out"), self._new_file("err")
        with open(os.devnull) as nothing, out.open("w") as to_out, err.open("w") as to_err:
            streams = (nothing.fileno(), to_out.fileno(), to_err.fileno())
            process = start_command(*args, cwd=self.folder, env=environment(self.settings), streams=streams)
        return RunningCommand(process, out, err)

    def _new_file(self, name: str) -> Path:
        handle, path = tempfile.mkstemp(prefix=f"{name}-", dir=self.folder)
        os.close(handle)
        return Path(path)


@dataclass(frozen=True)
class RunningCommand:
    """A started command, and the files that it writes to."""

    process: ForkedProcess
    out: Path
    err: Path

    def interrupt(self) -> None:
        """Presses Ctrl-C."""
        self.process.send_signal(signal.SIGINT)

    async def done(self) -> CommandResult:
        """Waits until it has ended."""
        code = await asyncio.to_thread(self.process.wait, LONGEST_COMMAND)
        return CommandResult(code, self.out.read_text(), self.err.read_text())


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        # A terminal reports its end this way.
        return b""
