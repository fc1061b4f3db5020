"""`/api/auth`: issues, renews and revokes access tokens for API clients."""

from dataclasses import replace
from datetime import UTC, datetime
from secrets import token_hex

from fastapi import APIRouter, Request, Response

from feedmill.app import App
from feedmill.errors import NotSignedIn
from feedmill.lazy_loggers import get_logger
from feedmill.library.users.authentication import authenticate
from feedmill.model.user import JWT
from feedmill.serve.http.auth import origin_of
from feedmill.serve.http.jwt_tokens import ACCESS, LIFETIMES, REFRESH, TokenClaims, make_token, read_token
from feedmill.serve.http.signing_key import signing_key
from feedmill.serve.rest.core.dependencies import TheApp
from feedmill.serve.rest.users.schemas import AccessTokenPair, NameAndPassword, RefreshTokenRequest
from feedmill.store.users import sessions
from feedmill.store.users.api_tokens import token_digest

log = get_logger(__name__)

router = APIRouter(prefix="/auth", tags=["signing in"])


class BadRefreshToken(NotSignedIn):
    """The refresh token is not ours, has run out or was used before."""

    code = "bad_refresh_token"

    def __init__(self) -> None:
        super().__init__("this refresh token does not hold: sign in with name and password")


@router.post("/token")
async def make_access_token(
    app: TheApp, request: Request, response: Response, sent: NameAndPassword
) -> AccessTokenPair:
    """A first pair of tokens for name and password; it begins a session, listed with the others."""
    now, origin = datetime.now(UTC), origin_of(request)
    user = await authenticate(app.db, sent.name, sent.password, origin, now)
    number = token_hex(16)
    session_id = await sessions.begin_session(app.db, user.id, JWT, token_digest(number), origin, now)
    return _token_pair(app, response, TokenClaims(user.id, session_id, number), now)


@router.post("/refresh")
async def renew_access_token(app: TheApp, response: Response, sent: RefreshTokenRequest) -> AccessTokenPair:
    """The next pair. A refresh token works once; used again, it ends the session, for one of two has stolen it."""
    now = datetime.now(UTC)
    claims = read_token(signing_key(app.settings), REFRESH, sent.refresh_token)
    if claims is None or not await sessions.caller_of_session(app.db, claims.session_id, now):
        raise BadRefreshToken
    following = replace(claims, number=token_hex(16))
    if not await sessions.renew_session(
        app.db, claims.session_id, token_digest(claims.number), token_digest(following.number), now
    ):
        log.warning("a refresh token was used twice; its session has ended", user_id=claims.user_id)
        await sessions.end_session(app.db, claims.user_id, claims.session_id)
        raise BadRefreshToken
    return _token_pair(app, response, following, now)


@router.post("/revoke", status_code=204)
async def revoke_access(app: TheApp, sent: RefreshTokenRequest) -> None:
    """Ends the session of a refresh token with all its access tokens; says nothing of one that does not hold."""
    claims = read_token(signing_key(app.settings), REFRESH, sent.refresh_token)
    if claims is not None:
        await sessions.end_session(app.db, claims.user_id, claims.session_id)


def _token_pair(app: App, response: Response, claims: TokenClaims, now: datetime) -> AccessTokenPair:
    key = signing_key(app.settings)
    response.headers["Cache-Control"] = "no-store"
    return AccessTokenPair(
        access_token=make_token(key, ACCESS, claims, now),
        refresh_token=make_token(key, REFRESH, claims, now),
        expires_in=int(LIFETIMES[ACCESS].total_seconds()),
    )
