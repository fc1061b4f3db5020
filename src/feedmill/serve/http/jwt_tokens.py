"""Creates and reads the signed access and refresh tokens (JWT) of API clients.

Both contain the id of their session. The signature proves that we issued them; whether they are still valid depends on
the session, so an access token ends with it, and a refresh token that is not the session's latest has been reused.
"""

from datetime import datetime, timedelta
from typing import Any

import jwt

from feedmill.library.users.client_sessions import ClientSession
from feedmill.model.user import SESSION_LIFETIME

ALGORITHM = "HS256"
ACCESS, REFRESH = "access", "refresh"
LIFETIMES = {ACCESS: timedelta(minutes=15), REFRESH: SESSION_LIFETIME}
REQUIRED_CLAIMS = ["typ", "sub", "sid", "jti", "exp"]
MAX_TOKEN_LENGTH = 1000


def make_token(key: str, kind: str, session: ClientSession, now: datetime) -> str:
    claims = {
        "typ": kind,
        "sub": str(session.user_id),
        "sid": session.session_id,
        "jti": session.secret,
        "iat": now,
        "exp": now + LIFETIMES[kind],
    }
    return jwt.encode(claims, key, ALGORITHM)


def read_token(key: str, kind: str, token: str) -> ClientSession | None:
    """The session of a token of that kind; None if it is not valid or has expired."""
    if len(token) > MAX_TOKEN_LENGTH:
        return None
    try:
        claims: dict[str, Any] = jwt.decode(token, key, [ALGORITHM], {"require": REQUIRED_CLAIMS})
    except jwt.InvalidTokenError:
        return None
    return ClientSession(int(claims["sub"]), claims["sid"], claims["jti"]) if claims["typ"] == kind else None
