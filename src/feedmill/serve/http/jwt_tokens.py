"""Makes and reads the signed access and refresh tokens (JWT) of API clients.

Both are signed and name their session. The signature says that we made them; whether they still hold is the
session's to say, so an access token ends with it, and a refresh token that is not the session's latest is known
for one that somebody uses a second time.
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
    said = {
        "typ": kind,
        "sub": str(session.user_id),
        "sid": session.session_id,
        "jti": session.number,
        "iat": now,
        "exp": now + LIFETIMES[kind],
    }
    return jwt.encode(said, key, ALGORITHM)


def read_token(key: str, kind: str, token: str) -> ClientSession | None:
    """The session that a token of that kind names; None for one that we did not make, or that has run out."""
    if len(token) > MAX_TOKEN_LENGTH:
        return None
    try:
        said: dict[str, Any] = jwt.decode(token, key, [ALGORITHM], {"require": REQUIRED_CLAIMS})
    except jwt.InvalidTokenError:
        return None
    return ClientSession(int(said["sub"]), said["sid"], said["jti"]) if said["typ"] == kind else None
