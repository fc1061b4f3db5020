"""A web server for tests: every loopback address is one of its hosts, and its responses may be malformed."""

import asyncio
import inspect
import socket
import ssl
import struct
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from types import TracebackType
from typing import Self


@dataclass(frozen=True)
class Answer:
    """A well-formed response; Content-Length is added unless a header sets it."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    def encode(self) -> bytes:
        lines = [f"HTTP/1.1 {self.status} Scripted", f"Date: {formatdate(usegmt=True)}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        if not {"content-length", "transfer-encoding"} & {name.lower() for name in self.headers}:
            lines.append(f"Content-Length: {len(self.body)}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode() + self.body


@dataclass(frozen=True)
class ReceivedRequest:
    """A received request: the address it came to, its time (monotonic) and its content."""

    host: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float


class ClientConnection:
    """The connection, for responses that are malformed or incomplete."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def until_asked_again(self) -> None:
        """Waits until the first byte of another request has come, or the client has closed."""
        await self._reader.read(1)

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def hang_up(self) -> None:
        self._writer.close()

    def reset(self) -> None:
        """Ends the connection with RST instead of FIN."""
        connection = self._writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


# Of `web_on_one_port`; 0 stands for any.
_last_port = [0]

Script = Callable[[ReceivedRequest, ClientConnection], Awaitable[None]]
Handler = Callable[[ReceivedRequest], Answer]
Served = Answer | bytes | Script | Handler


class Web:
    """`serve` says what a path answers: an `Answer`, raw bytes, or a function that is given the request.

    A function of one argument returns an Answer, a coroutine function of two writes to the wire by itself.
    Raw bytes and scripts end the connection. The hosts are 127.x.y.z, all on one port.
    """

    def __init__(self, tls: ssl.SSLContext | None = None, port: int = 0) -> None:
        self.port = port
        self.requests: list[ReceivedRequest] = []
        self.at_once = 0
        self.most_at_once = 0
        self._tls = tls
        self._served: dict[tuple[str | None, str], Served] = {}
        self._open: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "0.0.0.0", self.port, ssl=self._tls, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def serve(self, path: str, served: Served, host: str | None = None) -> str:
        """Says what `path` answers, at one host or at all, and gives its URL."""
        self._served[host, path] = served
        return self.url(path, host or "127.0.0.1")

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}{path}"

    def seen(self, path: str) -> list[ReceivedRequest]:
        return [request for request in self.requests if request.path == path]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            while await self._handle_request(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            writer.close()

    async def _handle_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Handles one request; returns whether the connection stays open."""
        seen = await _request(reader, writer)
        self.requests.append(seen)
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            served = self._find(seen)
            if isinstance(served, Answer):
                await ClientConnection(reader, writer).send(served.encode())
                return True
            if isinstance(served, bytes):
                await ClientConnection(reader, writer).send(served)
            else:
                await served(seen, ClientConnection(reader, writer))
            return False
        finally:
            self.at_once -= 1

    def _find(self, seen: ReceivedRequest) -> Answer | bytes | Script:
        path = seen.path.partition("?")[0]
        for key in ((seen.host, seen.path), (None, seen.path), (seen.host, path), (None, path)):
            if key in self._served:
                served = self._served[key]
                return served if isinstance(served, Answer | bytes) else _called(served, seen)
        return Answer(status=404)


@asynccontextmanager
async def web_on_one_port() -> AsyncIterator[Web]:
    """A web on the port of the previous one in this process, unless the port is taken."""
    try:
        web = await Web(port=_last_port[0]).__aenter__()
    except OSError:
        web = await Web().__aenter__()
    _last_port[0] = web.port
    try:
        yield web
    finally:
        await web.__aexit__(None, None, None)


def _called(served: Script | Handler, seen: ReceivedRequest) -> Answer | Script:
    if inspect.iscoroutinefunction(served):
        return served
    return served(seen)  # type: ignore[call-arg,return-value]


async def _request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> ReceivedRequest:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("utf-8", "surrogateescape")
    at = time.monotonic()
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return ReceivedRequest(writer.get_extra_info("sockname")[0], method, path, headers, body, at)
