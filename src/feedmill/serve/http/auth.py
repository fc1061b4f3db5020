"""Authenticates requests by API key, access token or session cookie; signs in and out."""

from datetime import UTC, datetime

from starlette.requests import HTTPConnection

from feedmill.app import App
from feedmill.library.users.find_caller import (
    caller_of_api_key,
    caller_of_client_session,
    caller_of_cookie,
    is_api_key,
)
from feedmill.library.users.proxy_users import is_same_user
from feedmill.library.users.sign_in import Credentials, require_password_sign_in
from feedmill.library.users.sign_in import sign_in as begin_with_credentials
from feedmill.library.users.sign_in import sign_out as end_browser_session
from feedmill.library.users.two_factor import TwoFactorMissing, must_set_up_two_factor
from feedmill.model.user import Actor, Caller, RequestOrigin
from feedmill.optional_imports import import_by_name
from feedmill.serve.http import csrf
from feedmill.serve.http.connections.proxy_user import proxy_user_of
from feedmill.serve.http.session_cookie import session_token_of
from feedmill.serve.http.signing_key import signing_key

BEARER = "bearer "
# Imported with the first token: PyJWT brings cryptography where that is installed.
JWT_MODULE = "feedmill.serve.http.jwt_tokens"


async def caller_of(connection: HTTPConnection) -> Caller | None:
    """The caller of a request; None if unknown. If a bearer token is sent, the cookie is ignored."""
    app: App = connection.app.state.app
    return _unless_restricted(app, await _any_caller_of(connection))


async def caller_of_file_request(connection: HTTPConnection) -> Caller | None:
    """The same for an image or an icon: the unread list may be out of date."""
    app: App = connection.app.state.app
    return _unless_restricted(app, await _any_caller_of(connection, reads_lists=False))


async def _any_caller_of(connection: HTTPConnection, *, reads_lists: bool = True) -> Caller | None:
    app: App = connection.app.state.app
    if has_bearer_token(connection):
        secret = connection.headers["authorization"][len(BEARER) :].strip()
        return await _token_caller(app, secret, datetime.now(UTC), reads_lists)
    return await any_session_caller_of(connection, reads_lists=reads_lists)


def _unless_restricted(app: App, who: Caller | None) -> Caller | None:
    """The caller; None if the user must set up a second factor first. Keys were made in a session that had one."""
    if who is None or who.session_id is None:
        return who
    return None if must_set_up_two_factor(app.settings, who.user) else who


async def session_caller_of(connection: HTTPConnection) -> Caller | None:
    """The caller by session cookie only, for pages: an API key may have fewer rights than its owner has there."""
    app: App = connection.app.state.app
    return _unless_restricted(app, await any_session_caller_of(connection))


async def any_session_caller_of(connection: HTTPConnection, *, reads_lists: bool = True) -> Caller | None:
    """The same, also if it must set up a second factor before it may do anything else."""
    app: App = connection.app.state.app
    session = session_token_of(connection)
    now = datetime.now(UTC)
    who = await caller_of_cookie(app.db, session, now, reads_lists=reads_lists) if session else None
    named = proxy_user_of(connection, app.settings)
    # The proxy may have signed somebody else in since the session began.
    return None if who is not None and named is not None and not is_same_user(named, who.user) else who


async def refuse_restricted_session(connection: HTTPConnection) -> None:
    """Raises `TwoFactorMissing` for a session whose user must set up a second factor first."""
    app: App = connection.app.state.app
    who = await _any_caller_of(connection, reads_lists=False)
    if who is not None and _unless_restricted(app, who) is None:
        raise TwoFactorMissing


def has_bearer_token(connection: HTTPConnection) -> bool:
    """Whether a bearer token is sent. Basic authentication is ignored: it may be for a proxy in front."""
    return (connection.headers.get("authorization", "") + " ").lower().startswith(BEARER)


async def _token_caller(app: App, secret: str, now: datetime, reads_lists: bool) -> Caller | None:
    if is_api_key(secret):
        return await caller_of_api_key(app.db, secret, now, reads_lists=reads_lists)
    access = import_by_name(JWT_MODULE)
    claims = access.read_token(signing_key(app.settings), access.ACCESS, secret)
    if not claims:
        return None
    return await caller_of_client_session(app.db, claims.session_id, now, reads_lists=reads_lists)


async def sign_in(app: App, sent: Credentials, request: HTTPConnection) -> tuple[str, Caller]:
    """Returns the token of a new session, for the cookie, and its caller.

    Raises `WrongPassword`, `SecondFactorRequired`, `WrongCode` or `LimitExceeded`.
    """
    csrf.refuse_other_sites(request)
    require_password_sign_in(app.settings)
    now, replaced = datetime.now(UTC), session_token_of(request)
    return await begin_with_credentials(app.db, app.tools.encryption, sent, origin_of(request), now, replaced)


async def sign_out(app: App, request: HTTPConnection) -> None:
    """Ends the browser's session."""
    session = session_token_of(request)
    if session is not None:
        await end_browser_session(app.db, session)


def origin_of(connection: HTTPConnection) -> RequestOrigin:
    """Where a request comes from. Behind a trusted proxy the address is already the client's."""
    address = connection.client.host if connection.client else None
    return RequestOrigin(address[:64] if address else None, connection.headers.get("user-agent"))


def actor(who: Caller, connection: HTTPConnection) -> Actor:
    """The caller for the audit log."""
    return Actor(who.user.id, origin_of(connection).address)
