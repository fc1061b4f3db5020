"""Who is asking: a key made for a program, an API client's access token, or a browser's session."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from fastapi import Depends, Request
from starlette.requests import HTTPConnection

from feedmill.app import App
from feedmill.errors import NotAllowed, NotSignedIn
from feedmill.library import signing_in
from feedmill.model.account import ADMIN, Caller, Origin
from feedmill.serve import access, csrf
from feedmill.serve.cookies import session_of
from feedmill.serve.keys import signing_key
from feedmill.store.sessions import holder_of_access, holder_of_cookie
from feedmill.store.tokens import PREFIX, digest, holder_of_token

BEARER = "bearer "


async def caller_of(connection: HTTPConnection) -> Caller | None:
    """Whoever asks; None for nobody that we know. Who sends a key is not looked for among the sessions."""
    app: App = connection.app.state.app
    if has_key(connection):
        secret = connection.headers["authorization"][len(BEARER) :].strip()
        return await _holder(app, secret, datetime.now(UTC))
    return await visitor_of(connection)


async def visitor_of(connection: HTTPConnection) -> Caller | None:
    """Whoever asks with a browser's session; pages know no keys, for a key may open less than its owner sees there."""
    app: App = connection.app.state.app
    session = session_of(connection)
    return await holder_of_cookie(app.db, digest(session), datetime.now(UTC)) if session else None


def has_key(connection: HTTPConnection) -> bool:
    """Whether a key or an access token is sent. Name and password are not ours: a proxy in front may want them."""
    return (connection.headers.get("authorization", "") + " ").lower().startswith(BEARER)


async def _holder(app: App, secret: str, now: datetime) -> Caller | None:
    if secret.startswith(PREFIX):
        return await holder_of_token(app.db, secret, now)
    claims = access.read_token(signing_key(app.settings), access.ACCESS, secret)
    return await holder_of_access(app.db, claims.session_id, now) if claims else None


async def caller(request: Request) -> Caller:
    """The caller of the API, or `NotSignedIn`. A browser must also show that one of our pages asks."""
    who = await caller_of(request)
    if who is None:
        raise NotSignedIn("sign in, or send a key as 'Authorization: Bearer …'")
    if not has_key(request) and request.method not in csrf.SAFE_METHODS:
        csrf.check(request, None)
    return who


def needs(scope: str) -> Callable[[Caller], Awaitable[Caller]]:
    """A dependency: the caller, who may do this."""

    async def check(who: Caller = Depends(caller)) -> Caller:  # noqa: B008
        if scope == ADMIN and not who.user.is_admin:
            raise NotAllowed("only an admin may do this")
        if scope not in who.scopes:
            raise NotAllowed(f"this key does not have the scope {scope!r}")
        return who

    return check


async def sign_in(app: App, name: str, password: str, request: HTTPConnection) -> tuple[str, Caller]:
    """The token of a new session, for the cookie, and who it speaks for; `WrongPassword` or `TooMany` otherwise."""
    csrf.refuse_other_sites(request)
    return await signing_in.sign_in(
        app.db, name, password, origin_of(request), datetime.now(UTC), replacing=session_of(request)
    )


async def sign_out(app: App, request: HTTPConnection) -> None:
    """Ends the browser's session."""
    session = session_of(request)
    if session is not None:
        await signing_in.sign_out(app.db, session)


def origin_of(connection: HTTPConnection) -> Origin:
    """Where a request comes from. The address of somebody behind a trusted proxy has become the client's by now."""
    address = connection.client.host if connection.client else None
    return Origin(address[:64] if address else None, connection.headers.get("user-agent"))
