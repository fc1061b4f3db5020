"""Limits the size of request bodies."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from feedmill.errors import TooLarge

MAX_JSON_BYTES = 1_000_000


def with_body_limit(request: Request, most: int, message: str) -> Request:
    """The same request, which raises `TooLarge` with this message once more than `most` bytes have come."""
    return Request(request.scope, _limited_receive(request.receive, most, TooLarge(message)))


class BodyLimit:
    """ASGI middleware that takes no body beyond `most` bytes; those of the paths `besides` limit themselves."""

    def __init__(self, inner: ASGIApp, most: int = MAX_JSON_BYTES, besides: frozenset[str] = frozenset()) -> None:
        self._inner, self._most, self._besides = inner, most, besides

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in self._besides:
            # An error of the framework, because FastAPI takes any other for a body that can't be read.
            receive = _limited_receive(
                receive, self._most, HTTPException(413, f"a request may have {self._most:,} bytes")
            )
        await self._inner(scope, receive, send)


def _limited_receive(receive: Receive, most: int, error: Exception) -> Receive:
    received = 0

    async def receive_some() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > most:
            raise error
        return message

    return receive_some
