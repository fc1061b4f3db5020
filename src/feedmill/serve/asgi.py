"""The ASGI application: every route, and the world they share."""

from starlette.applications import Starlette
from starlette.routing import Mount

from feedmill.app import App
from feedmill.serve import health, images, metrics, rest, web
from feedmill.serve.work import Work


def create(app: App, work: Work) -> Starlette:
    api, pages = Mount("/api", rest.create(app, work)), Mount("/", web.create(app, work))
    asgi = Starlette(routes=[api, *health.routes, *metrics.routes, *images.routes, pages])
    asgi.state.app, asgi.state.metrics = app, metrics.Metrics(app)
    return asgi
