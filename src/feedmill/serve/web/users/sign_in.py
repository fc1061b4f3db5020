"""`/login` and `/logout`: signs in and out."""

from datetime import UTC, datetime
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import LimitExceeded, WrongPassword
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.library.users.manage_users import needs_setup
from feedmill.library.users.oidc.errors import ProviderUnavailable
from feedmill.library.users.proxy_users import ProxyUserRefused, user_named_by_proxy
from feedmill.library.users.sign_in import Credentials, SecondFactorRequired, begin_session, provider_of_browser_session
from feedmill.serve.http import auth
from feedmill.serve.http.app_images import site_of
from feedmill.serve.http.connections.proxy_user import PEER, has_ignored_header, proxy_user_of
from feedmill.serve.http.session_cookie import delete_session_cookie, session_token_of, set_session_cookie
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in, signed_in_with_password
from feedmill.serve.web.core.form_fields import NEXT_PATH, TEXT, accepts_form
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import local_path, redirect
from feedmill.serve.web.core.render_page import render_page
from feedmill.serve.web.users.sign_in_code import ask_for_code

log = get_logger(__name__)

# In the address of the sign-in page, after signing out: a proxy does not sign in again by itself.
SIGNED_OUT = "signed-out"


async def show_sign_in(request: Request) -> Response:
    """The form; redirects users who are signed in, and a new instance to its setup."""
    if await auth.any_session_caller_of(request) is not None:
        return redirect(local_path(request.query_params.get("next")))
    if await needs_setup(the_app(request).db):
        return redirect("/setup")
    if SIGNED_OUT not in request.query_params and (answer := await _sign_in_by_proxy(request)) is not None:
        return answer
    return await show_sign_in_form(request, local_path(request.query_params.get("next")))


@accepts_form({"name": TEXT, "password": TEXT, "next": NEXT_PATH})
async def sign_in(request: Request) -> Response:
    sent = await checked_form(request)
    name, next_page = form_text(sent, "name"), local_path(sent.get("next"))
    try:
        token, _ = await auth.sign_in(the_app(request), Credentials(name, form_text(sent, "password")), request)
    except SecondFactorRequired as error:
        return await ask_for_code(request, error.user, next_page)
    except WrongPassword:
        return await show_sign_in_form(request, next_page, 401, name=name, wrong=True)
    except LimitExceeded as error:
        return await show_sign_in_form(request, next_page, 429, name=name, wait=error.retry_after or 1)
    response = redirect(next_page)
    set_session_cookie(response, request, token)
    return response


async def _sign_in_by_proxy(request: Request) -> Response | None:
    """Signs in whom a trusted proxy names; None if it names nobody. No other path takes the header."""
    app, origin = the_app(request), auth.origin_of(request)
    name = proxy_user_of(request, app.settings)
    if name is None:
        if has_ignored_header(request, app.settings):
            log.warning("sign_in_header_ignored", address=origin.address, connection=request.scope.get(PEER))
        return None
    next_page, now = local_path(request.query_params.get("next")), datetime.now(UTC)
    try:
        user = await user_named_by_proxy(app.db, app.settings, name, origin.address, now)
    except ProxyUserRefused as error:
        return await show_sign_in_form(request, next_page, 403, problem=error.message)
    token, _ = await begin_session(app.db, user, origin, now, session_token_of(request))
    response = redirect(next_page)
    set_session_cookie(response, request, token)
    return response


async def show_sign_out(request: Request) -> Response:
    await signed_in(request)
    return await render_page(request, "users/sign_out.html")


@accepts_form({})
async def sign_out(request: Request) -> Response:
    await signed_in_with_password(request)
    await checked_form(request)
    by_proxy = proxy_user_of(request, the_app(request).settings) is not None
    away = the_app(request).settings.sign_out_url if by_proxy else await _sign_out_url(request)
    await auth.sign_out(the_app(request), request)
    response = await leave_site(request, away) if away else redirect(f"/login?{SIGNED_OUT}" if by_proxy else "/login")
    delete_session_cookie(response, request)
    return response


async def _sign_out_url(request: Request) -> str | None:
    """Where the browser is signed out of its provider too; None if there is no such place, or it can't be asked."""
    app, token = the_app(request), session_token_of(request)
    provider = await provider_of_browser_session(app.db, token) if token else None
    try:
        return await app.single_sign_on.sign_out_url(provider, f"{site_of(request)}/login") if provider else None
    except ProviderUnavailable as error:
        log.warning("identity_provider_failed", provider=provider.id if provider else "", reason=str(error))
        return None


async def leave_site(request: Request, url: str) -> Response:
    """A page that goes on to another site by itself: browsers don't let a form redirect there."""
    request.state.caller = None
    return await render_page(
        request, "users/leave_site.html", url=url, host=urlsplit(url).hostname or request.url.hostname
    )


async def show_sign_in_form(
    request: Request,
    next_page: str,
    status: int = 200,
    name: str = "",
    wrong: bool = False,
    wait: int = 0,
    problem: Message | None = None,
) -> Response:
    """The form, with a button for each provider. `problem` is why a sign-in with one of them failed."""
    app = the_app(request)
    response = await render_page(
        request,
        "users/sign_in.html",
        status,
        next=next_page,
        name=name,
        wrong=wrong,
        wait=wait,
        problem=problem,
        passwords=app.settings.password_sign_in,
        providers=app.settings.oidc,
        proxy_user=proxy_user_of(request, app.settings) if problem is None else None,
        may_register=app.settings.registration,
    )
    if wait:
        response.headers["Retry-After"] = str(wait)
    return response


routes = [
    Route("/login", show_sign_in, methods=["GET"]),
    Route("/login", sign_in, methods=["POST"]),
    Route("/logout", show_sign_out, methods=["GET"]),
    Route("/logout", sign_out, methods=["POST"]),
]
