"""Who is asking: a key made for a program, an API client's access token, or a browser's session."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from fastapi import Depends, Request

from feedmill.app import App
from feedmill.errors import NotAllowed, NotSignedIn
from feedmill.model.account import ADMIN, Caller
from feedmill.store.tokens import holder_of_token

BEARER = "bearer "


async def caller(request: Request) -> Caller:
    """The caller, or `NotSignedIn`."""
    app: App = request.app.state.app
    scheme = request.headers.get("authorization", "")
    if scheme.lower().startswith(BEARER):
        held = await holder_of_token(app.db, scheme[len(BEARER) :].strip(), datetime.now(UTC))
        if held is not None:
            return held
    raise NotSignedIn("sign in, or send a key as 'Authorization: Bearer …'")


def needs(scope: str) -> Callable[[Caller], Awaitable[Caller]]:
    """A dependency: the caller, who may do this."""

    async def check(who: Caller = Depends(caller)) -> Caller:  # noqa: B008
        if scope not in who.scopes:
            raise NotAllowed(f"this key does not have the scope {scope!r}")
        if scope == ADMIN and not who.user.is_admin:
            raise NotAllowed("only an admin may do this")
        return who

    return check
