"""`/setup`: the first run makes the admin's account."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import AlreadySetUp, BadInput
from feedmill.library.accounts import needs_setup, set_up
from feedmill.serve import auth
from feedmill.serve.cookies import set_session
from feedmill.serve.web.page import form, go, show, text, the_app

AFTER = "/subscribe"


async def ask(request: Request) -> Response:
    if not await needs_setup(the_app(request).db):
        return go("/")
    return await show(request, "setup.html", name="", errors={})


async def make(request: Request) -> Response:
    sent = await form(request)
    name, password = text(sent, "name"), text(sent, "password")
    errors = {} if password == text(sent, "again") else {"again": "setup.not_the_same"}
    if not errors:
        try:
            await set_up(the_app(request).db, name, password, datetime.now(UTC))
        except BadInput as error:
            errors = {str(error.field): f"setup.bad_{error.field}"}
        except AlreadySetUp:
            return go("/login")
    if errors:
        return await show(request, "setup.html", 422, name=name, errors=errors)
    token, _ = await auth.sign_in(the_app(request), name, password, request)
    response = go(AFTER)
    set_session(response, request, token)
    return response


routes = [Route("/setup", ask, methods=["GET"]), Route("/setup", make, methods=["POST"])]
