"""Other addresses of the JSON API: `/api/backend/…`, and `/feeds…` and `/queue/…` without a prefix.

Programs that were written for the design documents use them. Without the prefix a request counts as one of the API only
if it has a Bearer token: the pages have the same paths, and browsers send no such header by themselves.
"""

import re

from starlette.types import ASGIApp, Receive, Scope, Send

BACKEND = "/api/backend/"
UNPREFIXED = re.compile(r"/feeds(?:/.*)?|/queue/.*")
SHORT_NAMES = {"/schedule-feed": "/queue/schedule-feed"}


def api_path(path: str, has_token: bool) -> str:
    """The path as the routes have it."""
    if path.startswith(BACKEND):
        rest = path.removeprefix(BACKEND.rstrip("/"))
        return f"/api{SHORT_NAMES.get(rest, rest)}"
    full = SHORT_NAMES.get(path, path)
    return f"/api{full}" if has_token and UNPREFIXED.fullmatch(full) else path


class PathAliases:
    """ASGI middleware that gives a request the path of its route."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (path := api_path(scope["path"], _has_token(scope))) != scope["path"]:
            scope = {**scope, "path": path}
        await self._app(scope, receive, send)


def _has_token(scope: Scope) -> bool:
    return any(name == b"authorization" and value[:7].lower() == b"bearer " for name, value in scope["headers"])
