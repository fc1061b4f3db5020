"""Other addresses of the JSON API: `/api/backend/…`, and `/feeds…` and `/queue/…` without a prefix.

Programs that were written for the design documents use them. Without the prefix a request counts as one of the API only
if it has a Bearer token and does not ask for HTML: the pages have the same paths, and a proxy may add a token to what a
browser sends.
"""

import re

from starlette.types import ASGIApp, Receive, Scope, Send

BACKEND = "/api/backend/"
UNPREFIXED = re.compile(r"/feeds(?:/.*)?|/queue/.*")
SHORT_NAMES = {"/schedule-feed": "/queue/schedule-feed"}


def api_path(path: str, is_program: bool) -> str:
    """The path as the routes have it."""
    if path.startswith(BACKEND):
        rest = path.removeprefix(BACKEND.rstrip("/"))
        return f"/api{SHORT_NAMES.get(rest, rest)}"
    full = SHORT_NAMES.get(path, path)
    return f"/api{full}" if is_program and UNPREFIXED.fullmatch(full) else path


class PathAliases:
    """ASGI middleware that gives a request the path of its route."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (path := api_path(scope["path"], _is_program(scope))) != scope["path"]:
            scope = {**scope, "path": path}
        await self._app(scope, receive, send)


def _is_program(scope: Scope) -> bool:
    headers = dict(scope["headers"])
    has_token = headers.get(b"authorization", b"")[:7].lower() == b"bearer "
    return has_token and b"text/html" not in headers.get(b"accept", b"")
