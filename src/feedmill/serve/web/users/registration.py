"""`/register`: lets a visitor create an account where registration is open."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, LimitExceeded, NameTaken, NotAllowed
from feedmill.i18n.messages import Message
from feedmill.library.users.registration import is_registration_open, register_user
from feedmill.library.users.sign_in import begin_session
from feedmill.serve.http.auth import origin_of
from feedmill.serve.http.session_cookie import session_token_of, set_session_cookie
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.form_fields import TEXT, accepts_form
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page

NEXT_PAGE = "/subscribe"


async def show_registration(request: Request) -> Response:
    app = the_app(request)
    if not await is_registration_open(app.db, app.settings):
        raise NotAllowed(Message("error.no_registration"))
    return await _show(request)


@accepts_form({"name": TEXT, "password": TEXT, "again": TEXT})
async def create_account(request: Request) -> Response:
    sent = await checked_form(request)
    app, now, origin = the_app(request), datetime.now(UTC), origin_of(request)
    name, password = form_text(sent, "name"), form_text(sent, "password")
    if password != form_text(sent, "again"):
        return await _show(request, name, {"again": "setup.not_the_same"}, 422)
    try:
        user = await register_user(app.db, app.settings, name, password, origin, now)
    except NameTaken:
        return await _show(request, name, {"name": "admin.name_taken"}, 409)
    except BadInput as error:
        return await _show(request, name, {str(error.field): f"setup.bad_{error.field}"}, 422)
    except LimitExceeded as error:
        return await _show(request, name, {}, 429, error.retry_after or 1)
    token, _ = await begin_session(app.db, user, origin, now, session_token_of(request))
    response = redirect(NEXT_PAGE)
    set_session_cookie(response, request, token)
    return response


async def _show(
    request: Request, name: str = "", errors: dict[str, str] | None = None, status: int = 200, wait: int = 0
) -> Response:
    response = await render_page(request, "users/registration.html", status, name=name, errors=errors or {}, wait=wait)
    if wait:
        response.headers["Retry-After"] = str(wait)
    return response


routes = [Route("/register", show_registration, methods=["GET"]), Route("/register", create_account, methods=["POST"])]
