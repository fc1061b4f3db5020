"""The tokens of API clients: short-lived ones for access, and one that fetches the next pair.

Both are signed and name their session. The signature says that we made them; whether they still hold is the
session's to say, so an access token ends with it, and a refresh token that is not the session's latest is known
for one that somebody uses a second time.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import jwt

from feedmill.store.sessions import LIFE

ALGORITHM = "HS256"
ACCESS, REFRESH = "access", "refresh"
LIVES = {ACCESS: timedelta(minutes=15), REFRESH: LIFE}
REQUIRED = ["typ", "sub", "sid", "jti", "exp"]
LONGEST = 1000


@dataclass(frozen=True, slots=True)
class Claims:
    """Which user's session a token of ours names, and which of its tokens it is."""

    user_id: int
    session_id: int
    number: str


def make_token(key: str, kind: str, claims: Claims, now: datetime) -> str:
    said = {
        "typ": kind, "sub": str(claims.user_id), "sid": claims.session_id, "jti": claims.number,
        "iat": now, "exp": now + LIVES[kind],
    }  # fmt: skip
    return jwt.encode(said, key, ALGORITHM)


def read_token(key: str, kind: str, token: str) -> Claims | None:
    """What a token of that kind says; None for one that we did not make, or that has run out."""
    if len(token) > LONGEST:
        return None
    try:
        said: dict[str, Any] = jwt.decode(token, key, [ALGORITHM], {"require": REQUIRED})
    except jwt.InvalidTokenError:
        return None
    return Claims(int(said["sub"]), said["sid"], said["jti"]) if said["typ"] == kind else None
