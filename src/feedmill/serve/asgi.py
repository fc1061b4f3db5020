"""Builds the ASGI application: mounts the APIs, the pages, health, metrics, images and icons."""

import asyncio

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from feedmill.app import App
from feedmill.collect.discovery.response_cache import ResponseCache
from feedmill.library.hubs.push_turns import PushTurns
from feedmill.library.jobs.job_port import JobPort
from feedmill.serve import fever, greader, miniflux
from feedmill.serve.http import app_images, archived_images, feed_icons, health, hub_callbacks, metrics
from feedmill.serve.http.allowed_hosts import AllowedHosts
from feedmill.serve.http.path_aliases import PathAliases
from feedmill.serve.http.problem_json import problem_response
from feedmill.serve.http.signing_key import signing_key
from feedmill.serve.lazy_app import LazyApp
from feedmill.serve.mcp.lazy_endpoint import mcp_routes
from feedmill.serve.output_feeds import image_routes, mount_output_feeds
from feedmill.serve.web.sidebar.count_watcher import CountWatcher

CREATE_API = "feedmill.serve.rest:create_api"
CREATE_PAGES = "feedmill.serve.web.create_pages:create_pages"
LONGEST_PATH = 4000


def create_asgi_app(app: App, work: JobPort) -> Starlette:
    # Now rather than when the first token is signed, so that a key file that can't be written is reported at start.
    signing_key(app.settings)
    count_watcher = CountWatcher(app.db)
    api = Mount("/api", LazyApp(CREATE_API, app, work))
    pages = Mount("/", LazyApp(CREATE_PAGES, app, work, count_watcher))
    images = [*archived_images.routes, *app_images.routes, *image_routes, *feed_icons.routes]
    # The APIs of reader apps stand before ours: FreshRSS has its paths below `/api` too.
    apps = [*greader.routes, *fever.routes, *miniflux.routes]
    routes = [
        *apps,
        api,
        *health.routes,
        *metrics.routes,
        *images,
        *hub_callbacks.routes,
        *mcp_routes(app, work),
        mount_output_feeds(app),
        pages,
    ]
    middleware = [
        Middleware(IgnoreDisconnects),
        Middleware(AllowedHosts, settings=app.settings),
        Middleware(LimitPaths),
        Middleware(PathAliases),
    ]
    asgi = Starlette(routes=routes, middleware=middleware, exception_handlers={HTTPException: _not_found})
    asgi.state.app, asgi.state.metrics = app, metrics.Metrics(app)
    asgi.state.work, asgi.state.discovery_cache = work, ResponseCache()
    # Pages that wait for changes hear of pushes at once.
    asgi.state.count_watcher, asgi.state.push_lock = count_watcher, asyncio.Lock()
    asgi.state.push_turns = PushTurns()
    return asgi


async def _not_found(request: Request, error: Exception) -> Response:
    """Answers requests that no mount handles: a line break in the path matches none of them."""
    assert isinstance(error, HTTPException)
    if request.url.path.startswith("/api/"):
        return problem_response(error.status_code, "not_found", "there is nothing at this address")
    return PlainTextResponse(error.detail, error.status_code, error.headers)


class LimitPaths:
    """ASGI middleware that refuses very long paths: Python can't read a number of more than 4,300 digits in one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and len(scope["path"]) > LONGEST_PATH:
            await PlainTextResponse("there is nothing at this address", 404)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


class IgnoreDisconnects:
    """ASGI middleware that ends requests of disconnected clients without a traceback in the log."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except ClientDisconnect:
            return
