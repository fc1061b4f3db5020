"""`/login/code`: the second step of signing in, for accounts with two factors."""

from datetime import UTC, datetime
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import LimitExceeded
from feedmill.library.users.pending_sign_in import (
    PENDING_FOR,
    begin_pending_sign_in,
    find_pending_user,
    finish_sign_in,
)
from feedmill.library.users.second_factor import WrongCode
from feedmill.model.user import User
from feedmill.serve.http.auth import origin_of
from feedmill.serve.http.session_cookie import is_https, session_token_of, set_session_cookie
from feedmill.serve.http.signing_key import signing_key
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.form_fields import NEXT_PATH, TEXT, accepts_form, one_of
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import local_path, redirect
from feedmill.serve.web.core.render_page import render_page

CODE_PATH = "/login/code"
COOKIE = "feedmill_sign_in"
# What the form asks for: a code of the authenticator app, or a recovery code. Either is accepted in both.
APP, RECOVERY = "app", "recovery"


async def ask_for_code(request: Request, user: User, next_page: str) -> Response:
    """Redirects somebody who has entered the right password to the form for the code."""
    app = the_app(request)
    token = await begin_pending_sign_in(app.db, signing_key(app.settings), user, datetime.now(UTC))
    response = redirect(f"{CODE_PATH}?{urlencode({'next': next_page})}")
    seconds, secure = int(PENDING_FOR.total_seconds()), is_https(request)
    response.set_cookie(COOKIE, token, seconds, path=CODE_PATH, httponly=True, samesite="strict", secure=secure)
    return response


async def show_code_form(request: Request) -> Response:
    next_page = local_path(request.query_params.get("next"))
    if await _pending_user(request) is None:
        return _start_again(next_page)
    return await _show(request, next_page, RECOVERY if request.query_params.get("with") == RECOVERY else APP)


@accepts_form({"code": TEXT, "with": one_of(APP, RECOVERY), "next": NEXT_PATH})
async def enter_code(request: Request) -> Response:
    sent = await checked_form(request)
    app, next_page, kind = the_app(request), local_path(sent.get("next")), form_text(sent, "with")
    user = await _pending_user(request)
    if user is None:
        return _start_again(next_page)
    now, origin, code = datetime.now(UTC), origin_of(request), form_text(sent, "code")
    replaced = session_token_of(request)
    try:
        token, _ = await finish_sign_in(app.db, app.tools.encryption, user, code, origin, now, replaced)
    except WrongCode:
        return await _show(request, next_page, kind, 401, wrong=True)
    except LimitExceeded as error:
        return await _show(request, next_page, kind, 429, wait=error.retry_after or 1)
    response = redirect(next_page)
    set_session_cookie(response, request, token)
    _forget_pending(response)
    return response


async def _pending_user(request: Request) -> User | None:
    app, token = the_app(request), request.cookies.get(COOKIE, "")
    return await find_pending_user(app.db, signing_key(app.settings), token, datetime.now(UTC)) if token else None


def _start_again(next_page: str) -> Response:
    response = redirect(f"/login?{urlencode({'next': next_page})}")
    _forget_pending(response)
    return response


def _forget_pending(response: Response) -> None:
    response.delete_cookie(COOKIE, path=CODE_PATH)


async def _show(
    request: Request, next_page: str, kind: str, status: int = 200, wrong: bool = False, wait: int = 0
) -> Response:
    other = f"{CODE_PATH}?{urlencode({'with': APP if kind == RECOVERY else RECOVERY, 'next': next_page})}"
    response = await render_page(
        request,
        "users/sign_in_code.html",
        status,
        next=next_page,
        kind=kind,
        wrong=wrong,
        wait=wait,
        other=other,
    )
    if wait:
        response.headers["Retry-After"] = str(wait)
    return response


routes = [
    Route(CODE_PATH, show_code_form, methods=["GET"]),
    Route(CODE_PATH, enter_code, methods=["POST"]),
]
