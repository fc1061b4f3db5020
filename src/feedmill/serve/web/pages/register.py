"""`/register`: a visitor makes an account, where that is allowed."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, NameTaken, NotAllowed, TooMany
from feedmill.library.registering import is_open, register
from feedmill.library.signing_in import begin_session
from feedmill.serve.auth import origin_of
from feedmill.serve.cookies import session_of, set_session
from feedmill.serve.web.page import form, go, show, text, the_app

AFTER = "/subscribe"


async def ask(request: Request) -> Response:
    app = the_app(request)
    if not await is_open(app.db, app.settings):
        raise NotAllowed("accounts are made by the admin here")
    return await _show(request)


async def make(request: Request) -> Response:
    sent = await form(request)
    app, now, origin = the_app(request), datetime.now(UTC), origin_of(request)
    name, password = text(sent, "name"), text(sent, "password")
    if password != text(sent, "again"):
        return await _show(request, name, {"again": "setup.not_the_same"}, 422)
    try:
        user = await register(app.db, app.settings, name, password, origin, now)
    except NameTaken:
        return await _show(request, name, {"name": "admin.name_taken"}, 409)
    except BadInput as error:
        return await _show(request, name, {str(error.field): f"setup.bad_{error.field}"}, 422)
    except TooMany as error:
        return await _show(request, name, {}, 429, error.retry_after or 1)
    token, _ = await begin_session(app.db, user, origin, now, session_of(request))
    response = go(AFTER)
    set_session(response, request, token)
    return response


async def _show(
    request: Request, name: str = "", errors: dict[str, str] | None = None, status: int = 200, wait: int = 0
) -> Response:
    response = await show(request, "register.html", status, name=name, errors=errors or {}, wait=wait)
    if wait:
        response.headers["Retry-After"] = str(wait)
    return response


routes = [Route("/register", ask, methods=["GET"]), Route("/register", make, methods=["POST"])]
