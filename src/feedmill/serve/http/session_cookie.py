"""Sets, reads and deletes the session cookie."""

from starlette.requests import HTTPConnection
from starlette.responses import Response

SESSION_COOKIE = "feedmill_session"
MAX_TOKEN_LENGTH = 128
KEEP_SECONDS = 400 * 24 * 3600


def session_token_of(connection: HTTPConnection) -> str | None:
    """The session token in the cookie; None without one."""
    token = connection.cookies.get(SESSION_COOKIE)
    return token if token and len(token) <= MAX_TOKEN_LENGTH else None


def set_session_cookie(response: Response, connection: HTTPConnection, token: str) -> None:
    response.set_cookie(
        SESSION_COOKIE, token, KEEP_SECONDS, path="/", httponly=True, samesite="lax", secure=is_https(connection)
    )


def delete_session_cookie(response: Response, connection: HTTPConnection) -> None:
    response.delete_cookie(SESSION_COOKIE, path="/", httponly=True, samesite="lax", secure=is_https(connection))


def is_https(connection: HTTPConnection) -> bool:
    """Whether cookies may be limited to https."""
    # X-Forwarded-Proto of a trusted proxy is already the scheme.
    return connection.url.scheme in ("https", "wss")
