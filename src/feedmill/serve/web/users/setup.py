"""`/setup`: creates the first admin."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import AlreadySetUp, BadInput
from feedmill.library.users.manage_users import create_first_admin, needs_setup
from feedmill.library.users.sign_in import begin_session
from feedmill.serve.http.auth import origin_of
from feedmill.serve.http.session_cookie import set_session_cookie
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.form_fields import TEXT, accepts_form
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page

NEXT_PAGE = "/subscribe"


async def show_setup(request: Request) -> Response:
    if not await needs_setup(the_app(request).db):
        return redirect("/")
    return await render_page(request, "users/setup.html", name="", errors={})


@accepts_form({"name": TEXT, "password": TEXT, "again": TEXT})
async def create_admin(request: Request) -> Response:
    sent = await checked_form(request)
    name, password = form_text(sent, "name"), form_text(sent, "password")
    errors = {} if password == form_text(sent, "again") else {"again": "setup.not_the_same"}
    if not errors:
        try:
            user = await create_first_admin(the_app(request).db, name, password, datetime.now(UTC))
        except BadInput as error:
            errors = {str(error.field): f"setup.bad_{error.field}"}
        except AlreadySetUp:
            return redirect("/login")
    if errors:
        return await render_page(request, "users/setup.html", 422, name=name, errors=errors)
    token, _ = await begin_session(the_app(request).db, user, origin_of(request), datetime.now(UTC))
    response = redirect(NEXT_PAGE)
    set_session_cookie(response, request, token)
    return response


routes = [Route("/setup", show_setup, methods=["GET"]), Route("/setup", create_admin, methods=["POST"])]
