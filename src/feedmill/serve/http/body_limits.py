"""Limits the size of request bodies."""

import re

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from feedmill.errors import TooLarge

MAX_JSON_BYTES = 1_000_000
NOTHING = re.compile(r"(?!)")


def with_body_limit(request: Request, limit: int, error: TooLarge) -> Request:
    """The same request, which raises the error after more than `limit` bytes."""
    return Request(request.scope, _limited_receive(request.receive, limit, error))


class BodyLimit:
    """ASGI middleware that refuses bodies of more than `limit` bytes, except on the paths that `exempt` matches."""

    def __init__(self, app: ASGIApp, limit: int = MAX_JSON_BYTES, exempt: re.Pattern[str] = NOTHING) -> None:
        self._app, self._limit, self._exempt = app, limit, exempt

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._exempt.fullmatch(scope["path"]):
            # An HTTPException, because FastAPI reports any other error as an unreadable body.
            receive = _limited_receive(
                receive, self._limit, HTTPException(413, f"a request may have {self._limit:,} bytes")
            )
        await self._app(scope, receive, send)


def _limited_receive(receive: Receive, limit: int, error: Exception) -> Receive:
    received = 0

    async def receive_some() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise error
        return message

    return receive_some
