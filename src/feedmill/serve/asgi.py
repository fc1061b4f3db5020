"""The ASGI application: every route, and the world they share."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount

from feedmill.app import App
from feedmill.serve import health, icons, images, metrics, rest, web
from feedmill.serve.rest.problems import problem
from feedmill.serve.work import Work


def create(app: App, work: Work) -> Starlette:
    api, pages = Mount("/api", rest.create(app, work)), Mount("/", web.create(app, work))
    routes = [api, *health.routes, *metrics.routes, *images.routes, *icons.routes, pages]
    asgi = Starlette(routes=routes, exception_handlers={HTTPException: _nowhere})
    asgi.state.app, asgi.state.metrics = app, metrics.Metrics(app)
    return asgi


async def _nowhere(request: Request, error: Exception) -> Response:
    """For what not even the pages are asked for: a line break in an address leads past all of them."""
    assert isinstance(error, HTTPException)
    if request.url.path.startswith("/api/"):
        return problem(error.status_code, "not_found", "there is nothing at this address")
    return PlainTextResponse(error.detail, error.status_code, error.headers)
