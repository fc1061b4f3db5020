"""`/api/me`: who am I? And my password."""

from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response

from feedmill.library.accounts import change_password
from feedmill.serve.auth import has_key, origin_of
from feedmill.serve.cookies import session_of
from feedmill.serve.rest.account_forms import Me, PasswordChange
from feedmill.serve.rest.parts import Reader, TheApp, Writer

router = APIRouter(prefix="/me", tags=["me"])


@router.get("")
async def read_me(request: Request, response: Response, who: Reader) -> Me:
    """Who the key or session belongs to, and what it may do."""
    response.headers["Cache-Control"] = "no-store"
    return Me.of(who, None if has_key(request) else session_of(request))


@router.put("/password", status_code=204)
async def change_my_password(app: TheApp, request: Request, who: Writer, sent: PasswordChange) -> None:
    """Changes the password and ends every session but this one; keys stay."""
    await change_password(app.db, who, sent.current, sent.new, origin_of(request), datetime.now(UTC))
