"""A small site behind the product's own server, with short deadlines, and raw connections to it."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from feedmill.serve.http.connections.connection_limits import ConnectionRegistry
from feedmill.serve.http.connections.server import DeadlineServer, uvicorn_config
from feedmill.settings import load_settings
from tests.waiting import slow_pace, until

LARGE = 8_000_000
PATIENCE = 60
NO_PROXY = "192.0.2.1/32"
"""So that connections of this machine count like those of any other."""


@dataclass
class TimedSite:
    port: int
    registry: ConnectionRegistry
    finish: Event
    """Ends `/waiting`."""
    clients: list["RawClient"] = field(default_factory=list)

    async def connect(self, source: str = "127.0.0.1", *, slow_line: bool = False) -> "RawClient":
        """A connection from that address. A slow line has small segments and a small window, so its data moves
        steadily."""
        connection = socket.socket()
        connection.setblocking(False)
        connection.bind((source, 0))
        if slow_line:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1000)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_000)
        await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", self.port))
        self.clients.append(RawClient(connection))
        return self.clients[-1]

    async def until(self, condition: Callable[[], bool]) -> None:
        await until(condition, PATIENCE)

    async def until_dropped(self, reason: str, number: int = 1) -> None:
        await self.until(lambda: self.registry.dropped[reason] >= number)


@dataclass
class RawClient:
    connection: socket.socket

    async def send(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self.connection, data)

    async def receive(self, most: int = 65536) -> bytes:
        async with asyncio.timeout(PATIENCE):
            return await asyncio.get_running_loop().sock_recv(self.connection, most)

    async def receive_until(self, mark: bytes) -> bytes:
        """Everything received up to and including these bytes, or until the connection ends."""
        received = b""
        while mark not in received and (more := await self.receive()):
            received += more
        return received

    async def receive_all(self) -> bytes:
        """Everything received until the server closes the connection, with or without a reset."""
        received = b""
        try:
            while more := await self.receive():
                received += more
        except ConnectionResetError:
            pass
        return received

    async def get(self, path: str) -> bytes:
        await self.send(head("GET", path))
        return await self.receive_until(b"\r\n\r\nok")

    async def send_slowly(self, pieces: Iterable[bytes], enough: Callable[[], bool], pause: float = 0.05) -> None:
        """Sends one piece after another, slowly, until enough was sent or the server has closed the connection."""
        with suppress(ConnectionResetError, BrokenPipeError):
            for piece in pieces:
                if enough():
                    return
                await self.send(piece)
                await slow_pace(pause)

    def close(self) -> None:
        self.connection.close()


def head(method: str, path: str, *headers: str) -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *headers, "", ""]).encode()


@asynccontextmanager
async def timed_site(most: int = 1000, **settings: Any) -> AsyncIterator[TimedSite]:
    """The site on an event loop of its own in a thread; `settings` are deadlines and limits."""
    given = load_settings(**{"trusted_proxies": NO_PROXY} | settings)
    registry, finish = ConnectionRegistry(most, given.connections_per_address, given.trusted_proxies), Event()
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = DeadlineServer(uvicorn_config(_app(finish), given, registry), registry)
        thread = Thread(target=uvloop.run, args=(server._serve(sockets=[listening]),))
        thread.start()
        site = TimedSite(listening.getsockname()[1], registry, finish)
        try:
            await site.until(lambda: server.started)
            yield site
        finally:
            for client in site.clients:
                client.close()
            finish.set()
            server.should_exit = True
            await asyncio.to_thread(thread.join, PATIENCE)


def _app(finish: Event) -> Starlette:
    async def page(request: Request) -> Response:
        return PlainTextResponse("ok")

    async def upload(request: Request) -> Response:
        return PlainTextResponse(f"ok {len(await request.body())}")

    async def late_upload(request: Request) -> Response:
        await asyncio.to_thread(finish.wait, PATIENCE)
        return PlainTextResponse(f"ok {len(await request.body())}")

    async def refuse_upload(request: Request) -> Response:
        return PlainTextResponse("ok, too large", 413)

    async def large(request: Request) -> Response:
        return Response(bytes(LARGE))

    async def waiting(request: Request) -> Response:
        await asyncio.to_thread(finish.wait, PATIENCE)
        return PlainTextResponse("ok")

    async def events(request: Request) -> Response:
        return StreamingResponse(_events(), media_type="text/event-stream")

    async def flood(request: Request) -> Response:
        return StreamingResponse(_flood(), media_type="text/event-stream")

    def post(path: str, handler: Callable[[Request], Awaitable[Response]]) -> Route:
        return Route(path, handler, methods=["POST"])

    gets = {"/": page, "/large": large, "/waiting": waiting, "/events": events, "/flood": flood}
    routes = [Route(path, handler) for path, handler in gets.items()]
    posts = [post("/upload", upload), post("/late-upload", late_upload), post("/refuse-upload", refuse_upload)]
    return Starlette(routes=[*routes, *posts])


async def _events() -> AsyncIterator[bytes]:
    for number in range(40):
        yield f"data: {number}\n\n".encode()
        await slow_pace(0.1)


async def _flood() -> AsyncIterator[bytes]:
    while True:
        yield b"data: " + bytes(100_000) + b"\n\n"
        await asyncio.sleep(0)
