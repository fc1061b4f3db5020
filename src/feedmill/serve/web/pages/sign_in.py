"""`/login` and `/logout`."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import TooMany, WrongPassword
from feedmill.library.accounts import needs_setup
from feedmill.serve import auth
from feedmill.serve.cookies import drop_session, set_session
from feedmill.serve.web.page import form, go, show, signed_in, text, the_app
from feedmill.serve.web.places import local


async def ask(request: Request) -> Response:
    """The form; who is signed in already goes on, and where nobody is known yet the first run comes before."""
    if await auth.visitor_of(request) is not None:
        return go(local(request.query_params.get("next")))
    if await needs_setup(the_app(request).db):
        return go("/setup")
    return await _show(request, local(request.query_params.get("next")))


async def sign_in(request: Request) -> Response:
    sent = await form(request)
    name, next_page = text(sent, "name"), local(sent.get("next"))
    try:
        token, _ = await auth.sign_in(the_app(request), name, text(sent, "password"), request)
    except WrongPassword:
        return await _show(request, next_page, 401, name=name, wrong=True)
    except TooMany as error:
        return await _show(request, next_page, 429, name=name, wait=error.retry_after or 1)
    response = go(next_page)
    set_session(response, request, token)
    return response


async def ask_to_leave(request: Request) -> Response:
    await signed_in(request)
    return await show(request, "sign_out.html")


async def sign_out(request: Request) -> Response:
    await signed_in(request)
    await form(request)
    await auth.sign_out(the_app(request), request)
    response = go("/login")
    drop_session(response, request)
    return response


async def _show(
    request: Request, next_page: str, status: int = 200, name: str = "", wrong: bool = False, wait: int = 0
) -> Response:
    response = await show(
        request, "sign_in.html", status, next=next_page, name=name, wrong=wrong, wait=wait,
        may_register=the_app(request).settings.registration,
    )  # fmt: skip
    if wait:
        response.headers["Retry-After"] = str(wait)
    return response


routes = [
    Route("/login", ask, methods=["GET"]),
    Route("/login", sign_in, methods=["POST"]),
    Route("/logout", ask_to_leave, methods=["GET"]),
    Route("/logout", sign_out, methods=["POST"]),
]
