"""Makes and reads the signed access and refresh tokens (JWT) of API clients.

Both are signed and name their session. The signature says that we made them; whether they still hold is the
session's to say, so an access token ends with it, and a refresh token that is not the session's latest is known
for one that somebody uses a second time.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import jwt

from feedmill.store.users.sessions import SESSION_LIFETIME

ALGORITHM = "HS256"
ACCESS, REFRESH = "access", "refresh"
LIFETIMES = {ACCESS: timedelta(minutes=15), REFRESH: SESSION_LIFETIME}
REQUIRED_CLAIMS = ["typ", "sub", "sid", "jti", "exp"]
MAX_TOKEN_LENGTH = 1000


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """Which user's session a token of ours names, and which of its tokens it is."""

    user_id: int
    session_id: int
    number: str


def make_token(key: str, kind: str, claims: TokenClaims, now: datetime) -> str:
    said = {
        "typ": kind,
        "sub": str(claims.user_id),
        "sid": claims.session_id,
        "jti": claims.number,
        "iat": now,
        "exp": now + LIFETIMES[kind],
    }
    return jwt.encode(said, key, ALGORITHM)


def read_token(key: str, kind: str, token: str) -> TokenClaims | None:
    """What a token of that kind says; None for one that we did not make, or that has run out."""
    if len(token) > MAX_TOKEN_LENGTH:
        return None
    try:
        said: dict[str, Any] = jwt.decode(token, key, [ALGORITHM], {"require": REQUIRED_CLAIMS})
    except jwt.InvalidTokenError:
        return None
    return TokenClaims(int(said["sub"]), said["sid"], said["jti"]) if said["typ"] == kind else None
