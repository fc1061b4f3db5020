"""The ASGI application: every route, and the world they share."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route

from feedmill import __version__
from feedmill.app import App
from feedmill.serve import health, images, metrics, rest
from feedmill.serve.work import Work

HOME = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Feedmill</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><main><h1>Feedmill {version}</h1>
<p>The collector is running. Its state: <a href="/health">/health</a>.</p></main></body></html>
"""


async def home(request: Request) -> HTMLResponse:
    return HTMLResponse(HOME.format(version=__version__), headers={"Content-Security-Policy": "default-src 'none'"})


def create(app: App, work: Work) -> Starlette:
    api = Mount("/api", rest.create(app, work))
    asgi = Starlette(routes=[Route("/", home), api, *health.routes, *metrics.routes, *images.routes])
    asgi.state.app, asgi.state.metrics = app, metrics.Metrics(app)
    return asgi
