"""The web pages (Starlette and Jinja): core/ is shared, and each noun has a folder with its pages and templates.

To add a page to the noun <noun>:

1. `<noun>/<page>.py`: coroutines `(request) -> Response` and a list `routes`. Each begins with
   `caller = await signed_in(request)` and ends with `return await render_page(request, "<noun>/<page>.html", …)`.
   It reads its data through `library/`, never from the database or our own API.
2. A change is a POST. `@accepts_form({"name": TEXT, …})` (`core/form_fields.py`) declares the fields of its form;
   `sent = await checked_form(request)` refuses any other form and checks the CSRF token. Then the library does it, and
   `return redirect(path, flash_success("<area>.done", n=3))` shows a message on the next page.
3. `<noun>/templates/<page>.html` extends `core/frame.html` and fills the blocks `actions` (right of the title) and
   `main`. The macros of `core/templates/` draw buttons, fields, icons, empty states and the like.
4. Its texts: `feedmill/i18n/locales/<language>/<area>.json`, used as `t("<area>.key")` in templates. What `library/`
   and others say in English is shown by `tell(text, t)`, with its translation in `told.json`.
5. Its styles, if it needs any: `static/css/<page>.css` is found automatically and added to the one style sheet.
6. Its `routes` go into `ROUTES` of `routes.py`; a link to it into `core/templates/sidebar.html`, if it has one.

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
    web.state.app, web.state.work, web.state.answers = app, work, ResponseCache()
    return web
