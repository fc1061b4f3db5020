"""`/api/sessions`: signs in with a cookie, lists and ends sessions."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from feedmill.api_schemas.current_user import CurrentUser
from feedmill.library.users import sessions
from feedmill.library.users.manage_users import sign_out_elsewhere
from feedmill.model.user import Caller
from feedmill.serve.http import auth
from feedmill.serve.http.session_cookie import delete_session_cookie, set_session_cookie
from feedmill.serve.rest.core.dependencies import Reader, TheApp, Writer
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import PathId
from feedmill.serve.rest.users.schemas import (
    AccessEndedResponse,
    SessionPage,
    SessionResponse,
    SignInRequest,
    describe_caller,
)

router = APIRouter(prefix="/sessions", tags=["signing in"])


def signed_in_response(request: Request, response: Response, token: str, who: Caller) -> CurrentUser:
    """The response to a caller who has just signed in; sets the session cookie."""
    set_session_cookie(response, request, token)
    response.headers["Cache-Control"] = "no-store"
    return describe_caller(who, token)


@router.post("", status_code=201)
async def sign_in(app: TheApp, request: Request, response: Response, sent: SignInRequest) -> CurrentUser:
    """Starts a browser session with a cookie; programs use an API key or `POST /auth/token`."""
    begun = await auth.sign_in(app, sent.credentials(), request)
    return signed_in_response(request, response, *begun)


@router.get("")
async def list_sessions(app: TheApp, who: Reader) -> SessionPage:
    """Your sessions, the last used first."""
    found = await sessions.list_sessions(app.db, who, datetime.now(UTC))
    return SessionPage(items=[SessionResponse.of(session, who.session_id) for session in found])


@router.delete("")
async def end_other_sessions(
    app: TheApp,
    request: Request,
    who: Writer,
    revoke_keys: Annotated[bool, Query(description="Also revoke all your API keys.")] = False,
) -> AccessEndedResponse:
    """Signs you out everywhere else. API keys stay valid, unless `revoke_keys` is true."""
    ended = await sign_out_elsewhere(app.db, who, auth.origin_of(request), datetime.now(UTC), revoke_keys=revoke_keys)
    return AccessEndedResponse.of(ended)


@router.delete("/current", status_code=204)
async def sign_out(app: TheApp, request: Request, response: Response, who: Reader) -> None:
    """Ends the session of this request; an API key has none, and stays valid."""
    if await sessions.end_current_session(app.db, who):
        delete_session_cookie(response, request)


@router.delete("/{session_id}", status_code=204, responses=problem_responses(404))
async def end_session(app: TheApp, who: Writer, session_id: PathId) -> None:
    """Ends one of your sessions."""
    await sessions.end_session(app.db, who, session_id)
