"""What tests use: starts a function in a new process of the fork server, and minds that process."""

import atexit
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from tests.fork_server.server import LENGTH

ROOT = Path(__file__).parents[2]


class ForkedProcess:
    """A process of the fork server, with the methods of `subprocess.Popen`. It has a process group of its own."""

    def __init__(self, exit_pipe: int) -> None:
        self.exit_pipe = exit_pipe
        self.returncode: int | None = None
        self._told = b""
        self._wait_for_lines(1, None)
        assert self._told, "the fork server ended; its traceback is above"
        self.pid = int(self._told.split()[0])

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._wait_for_lines(2, timeout)
            self.returncode = int(self._told.split()[1])
            os.close(self.exit_pipe)
        return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Ends it and whatever it started."""
        if self.poll() is None:
            # One that has only just begun has no group of its own yet, and has started nothing.
            for end in (os.killpg, os.kill):
                with suppress(ProcessLookupError):
                    end(self.pid, signal.SIGKILL)
                    return

    def _wait_for_lines(self, lines: int, timeout: float | None) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self.exit_pipe, selectors.EVENT_READ)
            while self._told.count(b"\n") < lines:
                if not selector.select(timeout):
                    raise subprocess.TimeoutExpired("a forked process", timeout or 0)
                if not (more := os.read(self.exit_pipe, 64)):
                    return
                self._told += more


class ForkServer:
    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.fork_server.server"],
                cwd=ROOT,
                stdin=theirs,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
            )
        self._control = ours
        self._lock = threading.Lock()

    def start(
        self,
        function: str,
        argument: Any,
        *,
        folder: Path,
        environment: dict[str, str],
        streams: tuple[int, int, int],
        open_files: int | None = None,
    ) -> ForkedProcess:
        """Calls `function` ("module:name") with an argument that JSON can say, in a new process."""
        asked = {
            "function": function,
            "argument": argument,
            "folder": str(folder),
            "environment": environment,
            "open_files": open_files,
        }
        read, write = os.pipe()
        try:
            with self._lock:
                message = json.dumps(asked | {"umask": current_umask()}).encode()
                socket.send_fds(self._control, [LENGTH.pack(len(message))], [*streams, write])
                self._control.sendall(message)
        finally:
            os.close(write)
        return ForkedProcess(read)

    def close(self) -> None:
        self._control.close()
        self._process.wait()


@cache
def fork_server() -> ForkServer:
    """The server of this pytest worker, started when it is first asked for."""
    server = ForkServer()
    atexit.register(server.close)
    return server


def current_umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
