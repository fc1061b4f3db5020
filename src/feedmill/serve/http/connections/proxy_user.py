"""The user that a proxy names in a header, which counts only from the networks in `sign_in_header_from`.

It is the address of the connection that decides, not that in `X-Forwarded-For`, which clients can write too.
"""

from ipaddress import ip_address

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from feedmill.settings import Settings

PEER = "feedmill.peer"
LONGEST_NAME = 200


class RecordPeer:
    """ASGI middleware that records the address of the connection, before the headers of proxies replace it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        scope[PEER] = client[0] if client else None
        await self._app(scope, receive, send)


def proxy_user_of(connection: HTTPConnection, settings: Settings) -> str | None:
    """The name that a trusted proxy sends; None without one. A header that is there twice names nobody."""
    names = connection.headers.getlist(settings.sign_in_header) if settings.sign_in_header else []
    if len(names) != 1 or not is_from_trusted_proxy(connection, settings):
        return None
    return _decoded(names[0]).strip()[:LONGEST_NAME] or None


def is_from_trusted_proxy(connection: HTTPConnection, settings: Settings) -> bool:
    """Whether the connection itself comes from a network in `sign_in_header_from`."""
    try:
        address = ip_address(connection.scope.get(PEER) or "")
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return any(mapped in network for network in settings.sign_in_header_from)


def has_ignored_header(connection: HTTPConnection, settings: Settings) -> bool:
    """Whether the header is there and does not count."""
    is_there = bool(settings.sign_in_header) and settings.sign_in_header in connection.headers
    return is_there and proxy_user_of(connection, settings) is None


def _decoded(value: str) -> str:
    """Headers are bytes; most proxies write UTF-8 into them."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
