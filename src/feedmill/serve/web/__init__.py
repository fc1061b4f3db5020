"""The web pages (Starlette and Jinja): core/ is shared, and each noun has a folder with its pages and templates.

`docs/contributing/add-a-page.md` says how to add a page. A page reads its data through `library/`, never from the
database or our own API.

Let errors of `errors.py` propagate: `core/error_pages.py` shows each as a page, or as a fragment for htmx.
"""

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from feedmill.app import App
from feedmill.collect.discovery.response_cache import ResponseCache
from feedmill.library.jobs.job_port import JobPort
from feedmill.serve.http.security_headers import SecurityHeaders, image_origin
from feedmill.serve.web.core import error_pages
from feedmill.serve.web.routes import ROUTES


def create_pages(app: App, work: JobPort) -> Starlette:
    """The ASGI app of the pages, to be mounted at `/` after everything else."""
    safety = Middleware(SecurityHeaders, images=image_origin(app.settings))
    # Level 4: pages are compressed for each request, and level 9 costs four times as much for a tenth less.
    gzip = Middleware(GZipMiddleware, minimum_size=600, compresslevel=4)
    web = Starlette(routes=ROUTES, middleware=[safety, gzip], exception_handlers=error_pages.HANDLERS)
    web.router.redirect_slashes = False
    web.state.app, web.state.work, web.state.discovery_cache = app, work, ResponseCache()
    return web
