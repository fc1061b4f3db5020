"""Two thousand slow clients on a server that may open 1,024 files, while readers notice nothing."""

import asyncio
import resource
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest

from feedmill.serve.web.core.assets import asset_url
from tests.cli.command import Server, feedmill
from tests.cli.new_interpreter import serving
from tests.waiting import slow_pace, until

pytestmark = pytest.mark.external

SLOW_CLIENTS = 2000
OPEN_FILES = 1024
ADDRESSES = [f"127.0.0.{number}" for number in range(2, 10)]
SETTINGS = {
    "header_seconds": "4",
    "body_seconds": "4",
    "send_seconds": "4",
    "keep_alive_seconds": "4",
    # No proxy is trusted here, so every address has its own limit.
    "trusted_proxies": "192.0.2.1/32",
    # The readers share a key, and read as fast as the machine allows.
    "api_per_minute": "1000000",
}
PATIENCE = 240
PATHS = ["/login", "/api/entries", "/health/live", "/api/me"]
# A state of TCP, <linux/tcp.h>.
ESTABLISHED = 1

# The largest response that every visitor gets.
STYLES = asset_url("feedmill.css")
HOST = b"Host: 127.0.0.1\r\n"
# What each kind sends at once, and what it then sends one byte of every second.
SILENT = (b"", b"")
SLOW_HEADERS = (b"GET / HTTP/1.1\r\n" + HOST + b"X-Slow: ", b"x")
SLOW_BODY = (
    b"POST /api/sessions HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\nContent-Length: 900\r\n\r\n",
    b" ",
)
SLOW_READING = ((b"GET %s HTTP/1.1\r\n" % STYLES.encode() + HOST + b"\r\n") * 10, b"")
KINDS = [SILENT, SLOW_HEADERS, SLOW_BODY, SLOW_READING]


@dataclass
class Readers:
    """Readers who use the server all the time: some keep their connection, some open a new one each time."""

    address: str
    key: str
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    enough: asyncio.Event = field(default_factory=asyncio.Event)

    def are_served(self) -> bool:
        """Whether everything has been read several times."""
        return all(self.statuses[path, 200] > 10 for path in PATHS)

    async def read(self, path: str, *, keeps_connection: bool) -> None:
        connector = aiohttp.TCPConnector(force_close=not keeps_connection)
        headers = {"Authorization": f"Bearer {self.key}"}
        async with aiohttp.ClientSession(self.address, connector=connector, headers=headers) as session:
            while not self.enough.is_set():
                async with session.get(path) as answer:
                    await answer.read()
                self.statuses[path, answer.status] += 1
                await slow_pace()


@pytest.fixture
def many_files() -> Iterator[None]:
    """Raises the limit of open files of this process, which has all the clients."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard > SLOW_CLIENTS + 500
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
async def test_readers_are_served_while_two_thousand_clients_are_slow(tmp_path: Path) -> None:
    feedmill("user", "add", "alice", cwd=tmp_path, typed="correct horse\n")
    key = feedmill("user", "key", "alice", "--for", "reading", "--scope", "read", cwd=tmp_path).stdout.split()[-1]
    with serving(cwd=tmp_path, settings=SETTINGS, open_files=OPEN_FILES) as server:
        files_before = open_files(server)
        readers = Readers(server.address, key)
        slow = [
            asyncio.create_task(
                be_slow_until(
                    readers.are_served, server, ADDRESSES[number % len(ADDRESSES)], KINDS[number % len(KINDS)]
                )
            )
            for number in range(SLOW_CLIENTS)
        ]
        reading = [
            asyncio.create_task(readers.read(path, keeps_connection=keeps)) for path in PATHS for keeps in (True, False)
        ]
        async with asyncio.timeout(PATIENCE):
            ends = sum(await asyncio.gather(*slow), Counter[str]())
        readers.enough.set()
        await asyncio.gather(*reading)
        print(ends, readers.statuses)

        assert {status for _, status in readers.statuses} == {200}, readers.statuses
        assert sum(ends.values()) >= SLOW_CLIENTS
        await until(lambda: open_files(server) < files_before + 50, otherwise="the server keeps files open")
        assert server.get("/health/live")[0] == 200
    log = (tmp_path / "serve.log").read_text()
    assert "Traceback" not in log
    assert "connections_dropped" in log


async def be_slow_until(
    enough: Callable[[], bool], server: Server, source: str, kind: tuple[bytes, bytes]
) -> Counter[str]:
    """Connects as a slow client again and again until there are enough; how each connection ended."""
    ends = Counter([await be_slow(server, source, kind)])
    while not enough():
        await slow_pace(1)
        ends[await be_slow(server, source, kind)] += 1
    return ends


async def be_slow(server: Server, source: str, kind: tuple[bytes, bytes]) -> str:
    """Connects and is as slow as possible until the server closes the connection; how it ended."""
    loop, (at_once, then) = asyncio.get_running_loop(), kind
    with socket.socket() as client:
        client.setblocking(False)
        client.bind((source, 0))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        try:
            await loop.sock_connect(client, ("127.0.0.1", int(server.address.rpartition(":")[2])))
            await loop.sock_sendall(client, at_once)
            while is_open(client):
                await slow_pace(1)
                await loop.sock_sendall(client, then)
                with suppress(BlockingIOError):
                    client.recv(1)
            return "closed"
        except ConnectionError:
            return "reset"


def is_open(client: socket.socket) -> bool:
    """Whether the server has not closed the connection, ignoring unread data."""
    state: int = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
    return state == ESTABLISHED


def open_files(server: Server) -> int:
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
