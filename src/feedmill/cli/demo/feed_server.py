"""The demo's own web: its feeds, pictures, articles and sounds, served on loopback."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from html import escape

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from feedmill.cli.demo.bell_sound import make_bell_sound
from feedmill.cli.demo.demo_feeds import DemoEntry, DemoFeed, picture_file, read_demo_feeds, read_stories
from feedmill.cli.demo.render_feeds import MEDIA_TYPES, FeedRenderer
from feedmill.cli.demo.water_gauge import gauge_entries

LOOPBACK = "127.0.0.1"


@dataclass(slots=True)
class DemoWeb:
    """What the server serves. The feeds in `gone` no longer exist."""

    port: int
    start: datetime
    feeds: dict[str, DemoFeed] = field(default_factory=lambda: {feed.path: feed for feed in read_demo_feeds()})
    gone: set[str] = field(default_factory=set)

    @property
    def origin(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def url(self, feed: DemoFeed) -> str:
        return f"{self.origin}/{feed.path}"

    @property
    def renderer(self) -> FeedRenderer:
        return FeedRenderer(self.origin, self.start, read_stories())

    def entries(self, feed: DemoFeed) -> list[tuple[int, DemoEntry]]:
        """The entries of the feed with their numbers, the newest first."""
        return gauge_entries(self.start, datetime.now(UTC)) if feed.is_live else feed.numbered_entries()


async def serve_feed(web: DemoWeb, request: Request) -> Response:
    feed = web.feeds.get(request.path_params["path"])
    if feed is None or feed.path in web.gone:
        return PlainTextResponse("Not Found", 404)
    return Response(web.renderer.render(feed, web.entries(feed)), media_type=MEDIA_TYPES[feed.format])


async def serve_article(web: DemoWeb, request: Request) -> Response:
    """The page of an entry, for who opens the original."""
    feed = web.feeds.get(request.path_params["path"])
    entry = dict(web.entries(feed)).get(request.path_params["number"]) if feed else None
    if entry is None:
        return PlainTextResponse("Not Found", 404)
    title = escape(entry.title)
    return HTMLResponse(
        f'<!doctype html><meta charset="utf-8"><title>{title}</title>'
        f"<article><h1>{title}</h1>{web.renderer.entry_html(entry)}</article>"
    )


async def serve_picture(request: Request) -> Response:
    path = picture_file(request.path_params["name"])
    return FileResponse(path) if path.is_file() else PlainTextResponse("Not Found", 404)


async def serve_audio(request: Request) -> Response:
    return Response(await asyncio.to_thread(make_bell_sound), media_type="audio/wav")


def create_demo_web(web: DemoWeb) -> Starlette:
    return Starlette(
        routes=[
            Route("/pictures/{name}.png", serve_picture),
            Route("/audio/{name}", serve_audio),
            Route("/articles/{path}/{number:int}", partial(serve_article, web)),
            Route("/{path}", partial(serve_feed, web)),
        ]
    )


@asynccontextmanager
async def run_demo_web() -> AsyncIterator[DemoWeb]:
    """Serves the demo's web on a free port of loopback during the block."""
    with socket.socket() as listening:
        listening.bind((LOOPBACK, 0))
        listening.listen()
        web = DemoWeb(listening.getsockname()[1], datetime.now(UTC))
        server = _QuietServer(
            uvicorn.Config(create_demo_web(web), log_config=None, lifespan="off", timeout_graceful_shutdown=1)
        )
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield web
        finally:
            server.should_exit = True
            await serving


class _QuietServer(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leaves signals to the reader's own server."""
        yield
