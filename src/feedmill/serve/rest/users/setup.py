"""`/api/setup`: creates the first admin, once."""

from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from feedmill.api_schemas.current_user import CurrentUser
from feedmill.library.users import manage_users
from feedmill.library.users.sign_in import begin_session
from feedmill.serve.http import csrf
from feedmill.serve.http.auth import origin_of
from feedmill.serve.rest.core.dependencies import TheApp
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.users.schemas import RegistrationRequest
from feedmill.serve.rest.users.sessions import signed_in_response

router = APIRouter(tags=["signing in"])


class SetupState(BaseModel):
    needs_setup: bool = Field(description="Whether there is no account yet.")
    registration: bool = Field(description="Whether visitors may create accounts.")


@router.get("/setup")
async def read_setup(app: TheApp) -> SetupState:
    """Whether the first account has still to be created."""
    needed = await manage_users.needs_setup(app.db)
    return SetupState(needs_setup=needed, registration=app.settings.registration and not needed)


@router.post("/setup", status_code=201, responses=problem_responses(409))
async def set_up(app: TheApp, request: Request, response: Response, new: RegistrationRequest) -> CurrentUser:
    """Creates the admin, once, and signs them in; they are subscribed to every existing feed."""
    csrf.refuse_other_sites(request)
    now, origin = datetime.now(UTC), origin_of(request)
    user = await manage_users.create_first_admin(app.db, new.name, new.password, now)
    return signed_in_response(request, response, *await begin_session(app.db, user, origin, now))
