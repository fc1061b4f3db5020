"""Builds the ASGI app of the pages."""

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from feedmill.app import App
from feedmill.collect.discovery.response_cache import ResponseCache
from feedmill.library.jobs.job_port import JobPort
from feedmill.serve.http.security_headers import SecurityHeaders, image_origin
from feedmill.serve.web.core import error_pages
from feedmill.serve.web.routes import ROUTES
from feedmill.serve.web.sidebar.count_watcher import CountWatcher


def create_pages(app: App, work: JobPort, count_watcher: CountWatcher) -> Starlette:
    """The ASGI app of the pages, to be mounted at `/` after everything else."""
    safety = Middleware(SecurityHeaders, images=image_origin(app.settings))
    # Level 4: pages are compressed for each request, and level 9 costs four times as much for a tenth less.
    gzip = Middleware(GZipMiddleware, minimum_size=600, compresslevel=4)
    web = Starlette(routes=ROUTES, middleware=[safety, gzip], exception_handlers=error_pages.HANDLERS)
    web.router.redirect_slashes = False
    web.state.app, web.state.work, web.state.discovery_cache = app, work, ResponseCache()
    web.state.count_watcher = count_watcher
    return web
