"""A data folder, a scripted web, and the real command line that works on both."""

import asyncio
import json
import os
import pty
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.command import COMMAND, environment, feedmill
from tests.www import Web

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


@dataclass(frozen=True)
class Done:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True)
class Mill:
    folder: Path
    web: Web
    settings: dict[str, str]

    async def run(self, *args: str, **more: str) -> Done:
        """Runs a command; the web answers meanwhile."""
        settings = self.settings | more
        done = await asyncio.to_thread(feedmill, *args, cwd=self.folder, settings=settings)
        return Done(done.returncode, done.stdout, done.stderr)

    async def ok(self, *args: str, **more: str) -> Done:
        done = await self.run(*args, **more)
        assert (done.code, done.err) == (0, ""), done
        return done

    async def on_terminal(self, *args: str, columns: int = 70) -> str:
        """What a person sees who runs the command, without colours and movements."""
        return await asyncio.to_thread(self._on_terminal, args, columns)

    def _on_terminal(self, args: tuple[str, ...], columns: int) -> str:
        ours, theirs = pty.openpty()
        env = environment(self.settings, COLUMNS=str(columns), TERM="xterm")
        process = subprocess.Popen([*COMMAND, *args], cwd=self.folder, env=env, stdout=theirs, stdin=theirs)
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b""))
        os.close(ours)
        assert process.wait(60) == 0
        return ESCAPES.sub("", shown.decode())

    async def interrupt(self, seen: str, *args: str) -> Done:
        """Runs a command and presses Ctrl-C once the web was asked for a path."""
        return await asyncio.to_thread(self._interrupt, seen, args)

    def _interrupt(self, seen: str, args: tuple[str, ...]) -> Done:
        process = subprocess.Popen(
            [*COMMAND, *args], cwd=self.folder, env=environment(self.settings), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            # Whoever started us may ignore Ctrl-C, as a shell does for what it runs in the background.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while not self.web.seen(seen) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        return Done(process.returncode, out, err)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        # So ends a terminal whose last user is gone.
        return b""
