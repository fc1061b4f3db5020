"""`/api/setup` and `/api/register`: the first account, and further ones where visitors may make them."""

from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from feedmill.library import accounts, registering, signing_in
from feedmill.serve import csrf
from feedmill.serve.auth import origin_of
from feedmill.serve.cookies import session_of
from feedmill.serve.rest.account_forms import Me, NewAccount
from feedmill.serve.rest.parts import TheApp
from feedmill.serve.rest.problems import described
from feedmill.serve.rest.sessions import answer_signed_in

router = APIRouter(tags=["signing in"])


class SetupState(BaseModel):
    needs_setup: bool = Field(description="Whether there is no account yet.")
    registration: bool = Field(description="Whether visitors may make accounts for themselves.")


@router.get("/setup")
async def read_setup(app: TheApp) -> SetupState:
    """Whether the first account is still to be made."""
    needed = await accounts.needs_setup(app.db)
    return SetupState(needs_setup=needed, registration=app.settings.registration and not needed)


@router.post("/setup", status_code=201, responses=described(409))
async def set_up(app: TheApp, request: Request, response: Response, new: NewAccount) -> Me:
    """Makes the admin, once, and signs them in; they are subscribed to every feed that is there already."""
    csrf.refuse_other_sites(request)
    now, origin = datetime.now(UTC), origin_of(request)
    user = await accounts.set_up(app.db, new.name, new.password, now)
    return answer_signed_in(request, response, *await signing_in.begin_session(app.db, user, origin, now))


@router.post("/register", status_code=201, responses=described(409))
async def register(app: TheApp, request: Request, response: Response, new: NewAccount) -> Me:
    """Makes an account and signs in; refused unless the setting `registration` is on."""
    csrf.refuse_other_sites(request)
    now, origin = datetime.now(UTC), origin_of(request)
    user = await registering.register(app.db, app.settings, new.name, new.password, origin, now)
    begun = await signing_in.begin_session(app.db, user, origin, now, replacing=session_of(request))
    return answer_signed_in(request, response, *begun)
