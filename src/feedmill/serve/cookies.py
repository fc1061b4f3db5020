"""The session's cookie. What it may do ends with the session, so the cookie itself is kept as long as may be."""

from starlette.requests import HTTPConnection
from starlette.responses import Response

COOKIE = "feedmill_session"
LONGEST = 128
KEEP_SECONDS = 400 * 24 * 3600


def session_of(connection: HTTPConnection) -> str | None:
    """The token of the browser's session; None when it holds none."""
    token = connection.cookies.get(COOKIE)
    return token if token and len(token) <= LONGEST else None


def set_session(response: Response, connection: HTTPConnection, token: str) -> None:
    response.set_cookie(
        COOKIE, token, KEEP_SECONDS, path="/", httponly=True, samesite="lax", secure=_is_https(connection)
    )


def drop_session(response: Response, connection: HTTPConnection) -> None:
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax", secure=_is_https(connection))


def _is_https(connection: HTTPConnection) -> bool:
    # A trusted proxy's X-Forwarded-Proto has become the scheme by now.
    return connection.url.scheme in ("https", "wss")
