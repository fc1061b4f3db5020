"""Measures how long the event loop of a server process is blocked, on a machine with other load.

A prober requests `/health/live` repeatedly, and measures three times until the response:

- the CPU time of the server process, which grows while the loop is blocked, and not with other load;
- the time for which the thread of the loop, or the prober, was ready to run and no core was free (`schedstat`);
- the wall time.

On a busy machine another thread of the server may work while the thread of the loop waits for a core: that does not
block the loop. So the loop was blocked for no longer than the wall time without those waits, and no longer than the
CPU time.
"""

import http.client
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import sub
from pathlib import Path
from typing import Self

import httpx

from tests.cli.command import Server
from tests.cli.conftest import LOOPBACK
from tests.cli.new_interpreter import serving
from tests.services.server import free_port, launch, wait_for_port

EVERY = 0.02
# CPU seconds of `_seconds_of_known_work` on the machine where 0.16 s was the longest that an article held the loop.
KNOWN_WORK = 0.065
ALICE = {"name": "alice", "password": "correct horse battery"}
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Prober:
    """Sends requests until the block ends, at least one; `held` and `wall` have the seconds of each response."""

    port: int
    pid: int
    held: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)

    @property
    def longest_held(self) -> float:
        return max(self.held)

    @property
    def worst_wall(self) -> float:
        return max(self.wall)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._ask_again_and_again)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _ask_again_and_again(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        while True:
            before = self._times()
            connection.request("GET", "/health/live")
            connection.getresponse().read()
            cpu, waited, wall = map(sub, self._times(), before)
            self.wall.append(wall)
            self.held.append(min(cpu, wall - waited))
            if self._stop.wait(EVERY):
                break
        connection.close()

    def _times(self) -> tuple[float, float, float]:
        """The server's CPU time, how long the loop's thread and this one waited for a core, and the wall clock."""
        # The loop runs in the main thread, whose id is that of the process.
        waited = waiting_time(self.pid, self.pid) + waiting_time(os.getpid(), threading.get_native_id())
        return cpu_time(self.pid), waited, time.monotonic()


def slowness() -> float:
    """How many times as long as on the machine of the measurements the same work takes here and now; at least 1."""
    return max(1.0, min(_seconds_of_known_work() for _ in range(5)) / KNOWN_WORK)


def _seconds_of_known_work() -> float:
    started = time.thread_time()
    json.loads(json.dumps([{"number": number, "text": f"word {number}"} for number in range(50_000)]))
    return time.thread_time() - started


def cpu_time(pid: int) -> float:
    """The CPU seconds of a process with all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def waiting_time(pid: int, thread: int) -> float:
    """The seconds for which a thread was ready to run and had no core."""
    return int(Path(f"/proc/{pid}/task/{thread}/schedstat").read_text().split()[1]) / 1e9


@dataclass(frozen=True)
class Reader:
    """Alice's client for a running server, and the folder of a web site next to it."""

    server: Server
    client: httpx.Client
    folder: Path
    site: str

    def prober(self) -> Prober:
        return Prober(int(self.server.address.rpartition(":")[2]), self.server.process.pid)

    def publish(self, name: str, data: bytes) -> str:
        """Puts a file on the web site; its URL."""
        (self.folder / name).write_bytes(data)
        return f"{self.site}/{name}"

    def subscribe(self, url: str) -> httpx.Response:
        return self.client.post("/api/feeds", json={"url": url})

    def entries_of(self, subscribed: httpx.Response) -> list[int]:
        feed = subscribed.raise_for_status().json()["feed"]
        listed = self.client.get("/api/entries", params={"feed_id": feed["id"], "view": "all"})
        return [entry["id"] for entry in listed.raise_for_status().json()["items"]]

    def read(self, entry_id: int) -> None:
        """Reads an article as a program does, and on its page."""
        self.client.get(f"/api/entries/{entry_id}").raise_for_status()
        self.client.get(f"/item/{entry_id}").raise_for_status()

    def import_opml(self, text: str) -> httpx.Response:
        return self.client.post("/api/feeds/import", content=text, headers={"Content-Type": "text/x-opml"})


@contextmanager
def reading(folder: Path) -> Iterator[Reader]:
    """A server with one account, a web site, and a client for both."""
    files, data = folder / "site", folder / "data"
    files.mkdir()
    data.mkdir()
    with (
        _site(files) as site,
        serving(cwd=data, settings=LOOPBACK | {"subscribe_seconds": "280"}) as server,
        httpx.Client(base_url=server.address, timeout=280) as client,
    ):
        # The cookie is for pages; the API goes by the token.
        client.post("/api/setup", json=ALICE).raise_for_status()
        token = client.post("/api/auth/token", json=ALICE).raise_for_status().json()["access_token"]
        client.headers["Authorization"] = f"Bearer {token}"
        yield Reader(server, client, files, site)


@contextmanager
def _site(folder: Path) -> Iterator[str]:
    """A web server in a separate process, so that its work takes no time from the prober."""
    port = free_port()
    command = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", str(folder), str(port)]
    log = folder.with_suffix(".log")
    process = launch(command, log)
    try:
        wait_for_port(port, process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()
