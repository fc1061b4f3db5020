"""`/api/auth`: issues, renews and revokes access tokens for API clients."""

from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response

from feedmill.app import App
from feedmill.library.users.client_sessions import (
    BadRefreshToken,
    ClientSession,
    begin_client_session,
    end_client_session,
    renew_client_session,
)
from feedmill.library.users.sign_in import require_password_sign_in
from feedmill.serve.http.auth import origin_of
from feedmill.serve.http.jwt_tokens import ACCESS, LIFETIMES, REFRESH, make_token, read_token
from feedmill.serve.http.signing_key import signing_key
from feedmill.serve.rest.core.dependencies import TheApp
from feedmill.serve.rest.users.schemas import AccessTokenPair, RefreshTokenRequest, SignInRequest

router = APIRouter(prefix="/auth", tags=["signing in"])


@router.post("/token")
async def make_access_token(app: TheApp, request: Request, response: Response, sent: SignInRequest) -> AccessTokenPair:
    """A first pair of tokens for name, password and code; it starts a session, listed with the others."""
    require_password_sign_in(app.settings)
    now, origin = datetime.now(UTC), origin_of(request)
    session = await begin_client_session(app.db, app.tools.encryption, sent.credentials(), origin, now)
    return _token_pair(app, response, session, now)


@router.post("/refresh")
async def renew_access_token(app: TheApp, response: Response, sent: RefreshTokenRequest) -> AccessTokenPair:
    """The next pair of tokens. A refresh token works once; a second use ends the session, because it may be stolen."""
    now = datetime.now(UTC)
    shown = read_token(signing_key(app.settings), REFRESH, sent.refresh_token)
    if shown is None:
        raise BadRefreshToken
    return _token_pair(app, response, await renew_client_session(app.db, shown, now), now)


@router.post("/revoke", status_code=204)
async def revoke_access(app: TheApp, sent: RefreshTokenRequest) -> None:
    """Ends the session of a refresh token with all its access tokens; an invalid token is no error."""
    shown = read_token(signing_key(app.settings), REFRESH, sent.refresh_token)
    if shown is not None:
        await end_client_session(app.db, shown)


def _token_pair(app: App, response: Response, session: ClientSession, now: datetime) -> AccessTokenPair:
    key = signing_key(app.settings)
    response.headers["Cache-Control"] = "no-store"
    return AccessTokenPair(
        access_token=make_token(key, ACCESS, session, now),
        refresh_token=make_token(key, REFRESH, session, now),
        expires_in=int(LIFETIMES[ACCESS].total_seconds()),
    )
