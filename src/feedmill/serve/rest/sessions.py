"""`/api/sessions`: signing in with a browser, seeing where one is signed in, and signing out there."""

from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response

from feedmill.errors import NotFound
from feedmill.model.account import Caller
from feedmill.serve import auth
from feedmill.serve.cookies import drop_session, set_session
from feedmill.serve.rest.account_forms import Me, NameAndPassword, SessionPage, SessionShown
from feedmill.serve.rest.fields import PathId
from feedmill.serve.rest.parts import Reader, TheApp, Writer
from feedmill.serve.rest.problems import described
from feedmill.store import sessions

router = APIRouter(prefix="/sessions", tags=["signing in"])


def answer_signed_in(request: Request, response: Response, token: str, who: Caller) -> Me:
    """The answer to whoever has just signed in, with the session's cookie."""
    set_session(response, request, token)
    response.headers["Cache-Control"] = "no-store"
    return Me.of(who, token)


@router.post("", status_code=201)
async def sign_in(app: TheApp, request: Request, response: Response, sent: NameAndPassword) -> Me:
    """Begins a browser's session, kept in a cookie; programs use a key or `POST /auth/token`."""
    return answer_signed_in(request, response, *await auth.sign_in(app, sent.name, sent.password, request))


@router.get("")
async def list_sessions(app: TheApp, who: Reader) -> SessionPage:
    """Where you are signed in, the one used last first."""
    found = await sessions.sessions_of(app.db, who.user.id, datetime.now(UTC))
    return SessionPage(items=[SessionShown.of(session, who.session_id) for session in found])


@router.delete("", status_code=204)
async def end_other_sessions(app: TheApp, who: Writer) -> None:
    """Signs you out everywhere but here."""
    await app.db.batch([sessions.end_others(who.user.id, who.session_id)])


@router.delete("/current", status_code=204)
async def sign_out(app: TheApp, request: Request, response: Response, who: Reader) -> None:
    """Ends the session that this request is made in; a key has none, and still holds."""
    if who.session_id is not None:
        await sessions.end(app.db, who.user.id, who.session_id)
        drop_session(response, request)


@router.delete("/{session_id}", status_code=204, responses=described(404))
async def end_session(app: TheApp, who: Writer, session_id: PathId) -> None:
    """Signs you out there."""
    if not await sessions.end(app.db, who.user.id, session_id):
        raise NotFound("you have no such session")
