"""`/api/register`: creates an account, where registration is open."""

from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response

from feedmill.api_schemas.current_user import CurrentUser
from feedmill.library.users.registration import register_user
from feedmill.library.users.sign_in import begin_session
from feedmill.serve.http import csrf
from feedmill.serve.http.auth import origin_of
from feedmill.serve.http.session_cookie import session_token_of
from feedmill.serve.rest.core.dependencies import TheApp
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.users.schemas import RegistrationRequest
from feedmill.serve.rest.users.sessions import signed_in_response

router = APIRouter(tags=["signing in"])


@router.post("/register", status_code=201, responses=problem_responses(409))
async def register(app: TheApp, request: Request, response: Response, new: RegistrationRequest) -> CurrentUser:
    """Creates an account and signs in; refused unless the setting `registration` is on."""
    csrf.refuse_other_sites(request)
    now, origin = datetime.now(UTC), origin_of(request)
    user = await register_user(app.db, app.settings, new.name, new.password, origin, now)
    token, caller = await begin_session(app.db, user, origin, now, replacing=session_token_of(request))
    return signed_in_response(request, response, token, caller)
