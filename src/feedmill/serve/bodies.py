"""No more of a request's body is read than is taken."""

from starlette.requests import Request
from starlette.types import Message

from feedmill.errors import TooLarge


def with_limit(request: Request, most: int, message: str) -> Request:
    """The same request, which raises `TooLarge` with this message once more than `most` bytes have come."""
    received = 0

    async def receive() -> Message:
        nonlocal received
        message_of_body = await request.receive()
        received += len(message_of_body.get("body", b""))
        if received > most:
            raise TooLarge(message)
        return message_of_body

    return Request(request.scope, receive)
