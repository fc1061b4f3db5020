"""Pages for a browser. In: requests of people. Out: HTML that works as plain links and forms; scripts only add to it.

To add a screen:

1. `pages/<screen>.py`: coroutines `(request) -> Response` and a list `routes`. Each begins with
   `caller = await signed_in(request)` and ends with `return await show(request, "<screen>.html", title=…, …)`.
   What it knows it asks of `library/`, never of SQL and never of our own API.
2. A change is a POST: `sent = await form(request)` reads the fields and checks the CSRF token, the library does it,
   `return go(path, say("<screen>.done", n=3))` redirects with a message on the next page.
3. `templates/<screen>.html` extends `frame.html` and fills the blocks `actions` (right of the title) and `main`.
   The macros of `templates/parts/` draw buttons, fields, icons, empty states and the like.
4. Its words: `i18n/<language>/<screen>.json`, used as `t("<screen>.key")` in templates and `say("<screen>.key")` here.
   What `library/` and others say in English is shown by `tell(sentence, t)`, with its translation in `told.json`.
5. Its styles, if it needs any: `static/css/<screen>.css` is found by itself and joins the one sheet of all.
6. Its `routes` go into `ROUTES` of `routes.py`; a link to it into `templates/parts/sidebar.html`, if it has one.

Errors of `errors.py` may pass: `problems.py` shows each as a page, or as a fragment where htmx asked.
"""

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from feedmill.app import App
from feedmill.library.discovery import Answers
from feedmill.serve.web import problems
from feedmill.serve.web.routes import ROUTES
from feedmill.serve.web.safety import SafetyHeaders, origin_of_images
from feedmill.serve.work import Work


def create(app: App, work: Work) -> Starlette:
    """The pages, to be mounted at `/` behind everything else."""
    safety = Middleware(SafetyHeaders, images=origin_of_images(app.settings))
    # Level 4: pages are made anew for each request, and 9 costs four times as much for a tenth less.
    gzip = Middleware(GZipMiddleware, minimum_size=600, compresslevel=4)
    web = Starlette(routes=ROUTES, middleware=[safety, gzip], exception_handlers=problems.HANDLERS)
    web.router.redirect_slashes = False
    web.state.app, web.state.work, web.state.answers = app, work, Answers()
    return web
