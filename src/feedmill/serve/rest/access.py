"""`/api/auth`: access tokens for API clients, short-lived and renewed by a token that works once."""

from dataclasses import replace
from datetime import UTC, datetime
from secrets import token_hex

import structlog
from fastapi import APIRouter, Request, Response

from feedmill.app import App
from feedmill.errors import NotSignedIn
from feedmill.library.signing_in import authenticate
from feedmill.model.account import JWT
from feedmill.serve.access import ACCESS, LIVES, REFRESH, Claims, make_token, read_token
from feedmill.serve.auth import origin_of
from feedmill.serve.keys import signing_key
from feedmill.serve.rest.account_forms import AccessTokens, NameAndPassword, RefreshToken
from feedmill.serve.rest.parts import TheApp
from feedmill.store import sessions
from feedmill.store.tokens import digest

log = structlog.get_logger(__name__)

router = APIRouter(prefix="/auth", tags=["signing in"])


class BadRefreshToken(NotSignedIn):
    """The refresh token is not ours, has run out or was used before."""

    code = "bad_refresh_token"

    def __init__(self) -> None:
        super().__init__("this refresh token does not hold: sign in with name and password")


@router.post("/token")
async def make_access_token(app: TheApp, request: Request, response: Response, sent: NameAndPassword) -> AccessTokens:
    """A first pair of tokens for name and password; it begins a session, listed with the others."""
    now, origin = datetime.now(UTC), origin_of(request)
    user = await authenticate(app.db, sent.name, sent.password, origin, now)
    number = token_hex(16)
    session_id = await sessions.begin(app.db, user.id, JWT, digest(number), origin, now)
    return _pair(app, response, Claims(user.id, session_id, number), now)


@router.post("/refresh")
async def renew_access_token(app: TheApp, response: Response, sent: RefreshToken) -> AccessTokens:
    """The next pair. A refresh token works once; used again, it ends the session, for one of two has stolen it."""
    now = datetime.now(UTC)
    claims = read_token(signing_key(app.settings), REFRESH, sent.refresh_token)
    if claims is None or not await sessions.holder_of_access(app.db, claims.session_id, now):
        raise BadRefreshToken
    following = replace(claims, number=token_hex(16))
    if not await sessions.renew(app.db, claims.session_id, digest(claims.number), digest(following.number), now):
        log.warning("a refresh token was used twice; its session has ended", user_id=claims.user_id)
        await sessions.end(app.db, claims.user_id, claims.session_id)
        raise BadRefreshToken
    return _pair(app, response, following, now)


@router.post("/revoke", status_code=204)
async def revoke_access(app: TheApp, sent: RefreshToken) -> None:
    """Ends the session of a refresh token with all its access tokens; says nothing of one that does not hold."""
    claims = read_token(signing_key(app.settings), REFRESH, sent.refresh_token)
    if claims is not None:
        await sessions.end(app.db, claims.user_id, claims.session_id)


def _pair(app: App, response: Response, claims: Claims, now: datetime) -> AccessTokens:
    key = signing_key(app.settings)
    response.headers["Cache-Control"] = "no-store"
    return AccessTokens(
        access_token=make_token(key, ACCESS, claims, now),
        refresh_token=make_token(key, REFRESH, claims, now),
        expires_in=int(LIVES[ACCESS].total_seconds()),
    )
