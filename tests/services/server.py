"""Starts and stops real servers for the tests: free ports, temporary folders, process groups."""

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

# Below the ports that the system itself gives to outgoing connections.
PORTS = range(10_000, 32_000)


class ServiceMissing(Exception):
    """A service that a suite needs is not available on this machine; the message says why."""


@dataclass(frozen=True)
class Service:
    """A running server: its URL and version."""

    name: str
    version: str
    url: str


class Restartable:
    """A server that a test may stop and start again with the same data and port."""

    def __init__(
        self, service: Service, command: list[str], port: int, log: Path, stop_with: signal.Signals, **popen: object
    ) -> None:
        self.service = service
        self._command, self._port, self._log, self._stop_with, self._popen = command, port, log, stop_with, popen
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the server and waits until it listens."""
        self._process = launch(self._command, self._log, **self._popen)
        wait_for_port(self._port, self._process, self._log)

    def stop(self, how: signal.Signals | None = None) -> None:
        if self._process is not None:
            end(self._process, how or self._stop_with)
            self._process = None

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Suspends the server: it accepts connections, but does not answer."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(self._process.pid, signal.SIGCONT)


def find_binary(name: str, *folders: str) -> str:
    """The path of a program, searched in PATH and then in `folders`."""
    search = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", *folders])
    found = shutil.which(name, path=search)
    if found is None:
        raise ServiceMissing(f"no program {name!r} on this machine")
    return found


def free_port() -> int:
    """A port that nobody uses; nobody gets it by chance before a server listens on it."""
    while True:
        port = secrets.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def wait_for_port(port: int, process: subprocess.Popen[bytes], log: Path, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise ServiceMissing(f"{process.args!r} ended at once: {log.read_text()[-2000:]}")
        with socket.socket() as probe:
            probe.settimeout(0.2)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise ServiceMissing(f"{process.args!r} did not listen on port {port} within {seconds} s")


def unprivileged() -> dict[str, object]:
    """Popen arguments that drop root, for servers that refuse to run as root."""
    if os.getuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def hand_over(path: Path) -> None:
    """Gives a folder to the user of an unprivileged server."""
    if os.getuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(path, nobody.pw_uid, nobody.pw_gid)


@contextmanager
def folder(name: str) -> Iterator[Path]:
    """A temporary folder that an unprivileged server may write to."""
    path = Path(tempfile.mkdtemp(prefix=f"feedmill-{name}-"))
    hand_over(path)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def launch(args: list[str], log: Path, **popen: object) -> subprocess.Popen[bytes]:
    """Starts a server in its own process group, with its output in `log`."""
    with log.open("ab") as out:
        return subprocess.Popen(args, stdout=out, stderr=out, start_new_session=True, **popen)  # type: ignore[call-overload,no-any-return]


def end(process: subprocess.Popen[bytes], sig: signal.Signals = signal.SIGTERM, seconds: float = 60) -> None:
    """Ends the process group of the server: first with `sig`, then with SIGKILL."""
    for attempt in (sig, signal.SIGKILL):
        try:
            os.killpg(process.pid, attempt)
        except ProcessLookupError:
            break
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            continue
    process.wait()
