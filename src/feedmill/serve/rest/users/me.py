"""`/api/me`: the current user, and changing the password."""

from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response

from feedmill.api_schemas.current_user import CurrentUser
from feedmill.library.users.confirm_owner import OwnerProof
from feedmill.library.users.manage_users import change_password
from feedmill.serve.http.auth import has_bearer_token, origin_of
from feedmill.serve.http.session_cookie import session_token_of
from feedmill.serve.rest.core.dependencies import Reader, TheApp, Writer
from feedmill.serve.rest.users.schemas import AccessEndedResponse, PasswordChange, describe_caller

router = APIRouter(prefix="/me", tags=["me"])


@router.get("")
async def read_me(request: Request, response: Response, who: Reader) -> CurrentUser:
    """The user of the key or session, and its scopes."""
    response.headers["Cache-Control"] = "no-store"
    return describe_caller(who, None if has_bearer_token(request) else session_token_of(request))


@router.put("/password")
async def change_my_password(app: TheApp, request: Request, who: Writer, sent: PasswordChange) -> AccessEndedResponse:
    """Changes the password and ends all other sessions. API keys stay valid, unless `revoke_keys` is true."""
    now, origin = datetime.now(UTC), origin_of(request)
    proof, encryption = OwnerProof(sent.current, sent.code), app.tools.encryption
    ended = await change_password(app.db, encryption, who, proof, sent.new, origin, now, revoke_keys=sent.revoke_keys)
    return AccessEndedResponse.of(ended)
