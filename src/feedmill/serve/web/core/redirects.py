"""Redirects: to local paths only, with a flash message, and back to the page that was requested."""

import re

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from feedmill.serve.web.core.flash import FlashMessage, set_flash

_LOCAL = re.compile(r"/(?![/\\])[^\x00-\x20\x7f\\]*")
HOME = "/"


def local_path(path: object, otherwise: str = HOME) -> str:
    """`path` if it is a local path, else `otherwise`: no redirect leads to another server."""
    return path if isinstance(path, str) and len(path) < 2000 and _LOCAL.fullmatch(path) else otherwise


def return_path(request: Request) -> str:
    """The requested page, for the redirect after signing in; the start page for a request that changes something."""
    if request.method != "GET":
        return "/"
    # From the path, not the URL with its Host header; two leading slashes would mean another server.
    path = "/" + str(request.scope["path"]).lstrip("/\\")
    return path + (f"?{request.url.query}" if request.url.query else "")


def redirect(path: str, message: FlashMessage | None = None) -> Response:
    """Redirects to a page after a form, with a flash message."""
    response = RedirectResponse(path, 303)
    if message is not None:
        set_flash(response, message)
    return response
