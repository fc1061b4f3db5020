"""`/sign-in-link/…`: signs in with a link that an admin or the operator created."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.users.sign_in import begin_session
from feedmill.library.users.sign_in_links import PATH, use_sign_in_link, user_of_sign_in_link
from feedmill.serve.http.auth import origin_of
from feedmill.serve.http.session_cookie import session_token_of, set_session_cookie
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import accepts_form
from feedmill.serve.web.core.read_form import checked_form
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page
from feedmill.serve.web.users.sign_in_code import ask_for_code


async def show_sign_in_link(request: Request) -> Response:
    """Asks first: programs that look at links in messages must not use it up."""
    user = await user_of_sign_in_link(the_app(request).db, request.path_params["token"], datetime.now(UTC))
    return await render_page(request, "users/sign_in_link.html", name=user.name)


@accepts_form({})
async def use_link(request: Request) -> Response:
    """Signs in, and leads to the settings, where a provider is linked for the next time.

    The link replaces the password, not the second factor of an account that has one.
    """
    await checked_form(request)
    app, now, origin = the_app(request), datetime.now(UTC), origin_of(request)
    user = await use_sign_in_link(app.db, request.path_params["token"], now)
    if user.has_two_factor:
        return await ask_for_code(request, user, "/settings")
    token, _ = await begin_session(app.db, user, origin, now, session_token_of(request))
    response = redirect("/settings#sign-in", flash_success("single_sign_on.link_used"))
    set_session_cookie(response, request, token)
    return response


routes = [
    Route(f"{PATH}/{{token}}", show_sign_in_link, methods=["GET"]),
    Route(f"{PATH}/{{token}}", use_link, methods=["POST"]),
]
