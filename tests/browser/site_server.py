"""A real server on a real port, in a thread of its own, with a scripted web to fetch from."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import uvicorn

from tests.scripted_web import Web
from tests.serve.rest.site import Site, running_site

PATIENCE = 60
Result = TypeVar("Result")


@dataclass(frozen=True)
class SiteServer:
    """`origin` is its address; `do` runs a coroutine in its event loop and waits for the result."""

    origin: str
    site: Site
    loop: asyncio.AbstractEventLoop

    def do(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE)


@contextmanager
def run_site_server(
    folder: Path, prepare: Callable[[Site], Awaitable[None]] | None = None, port: int = 0, **settings: Any
) -> Iterator[SiteServer]:
    """A running server for the block, by default on any port. `prepare` is awaited before the server starts."""
    ready, leave = threading.Event(), asyncio.Event()
    opened: list[SiteServer] = []
    failed: list[BaseException] = []

    async def live() -> None:
        async with Web() as web, running_site(folder, web, **settings) as site:
            if prepare is not None:
                await prepare(site)
            async with _listening(site, port) as origin:
                opened.append(SiteServer(origin, site, asyncio.get_running_loop()))
                ready.set()
                await leave.wait()

    def run() -> None:
        try:
            asyncio.run(live())
        except BaseException as error:
            failed.append(error)
        ready.set()

    thread = threading.Thread(target=run, name="site server")
    thread.start()
    ready.wait(PATIENCE)
    if failed:
        raise failed[0]
    try:
        yield opened[0]
    finally:
        opened[0].loop.call_soon_threadsafe(leave.set)
        thread.join(PATIENCE)
    if failed:
        raise failed[0]


@asynccontextmanager
async def _listening(site: Site, port: int) -> AsyncIterator[str]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", port))
        # The server listens only once its task runs; a browser may ask before.
        listening.listen()
        config = uvicorn.Config(site.asgi, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        serving = asyncio.create_task(server._serve(sockets=[listening]))
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        await serving
