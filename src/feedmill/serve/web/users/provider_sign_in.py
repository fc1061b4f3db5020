"""`/login/oidc/…`: signs in with an OpenID Connect provider, and links its identities to accounts."""

from collections.abc import Mapping
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from feedmill.errors import Conflict, FeedmillError
from feedmill.identity_providers import IdentityProvider
from feedmill.lazy_loggers import get_logger
from feedmill.library.users.manage_users import needs_setup
from feedmill.library.users.oidc.accounts import link_identity, unlink_identity, user_of_proven_identity
from feedmill.library.users.oidc.code_flow import BegunSignIn, ProvenIdentity
from feedmill.library.users.oidc.errors import ProviderSignInRefused, ProviderUnavailable
from feedmill.library.users.sign_in import begin_session
from feedmill.model.user import SessionProvider
from feedmill.serve.http.app_images import site_of
from feedmill.serve.http.auth import origin_of, session_caller_of
from feedmill.serve.http.session_cookie import is_https, session_token_of, set_session_cookie
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import flash_error, flash_success
from feedmill.serve.web.core.form_fields import accepts_form
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form
from feedmill.serve.web.core.redirects import HOME, local_path, redirect
from feedmill.serve.web.core.render_page import render_page
from feedmill.serve.web.users.sign_in import leave_site, show_sign_in_form

log = get_logger(__name__)

COOKIE = "feedmill_oidc"
COOKIE_SECONDS = 600
# The page to return to is in the cookie, which browsers drop when it is too long.
LONGEST_NEXT = 1000
SETTINGS_PATH = "/settings"


async def begin_sign_in(request: Request) -> Response:
    """Redirects to the provider."""
    app = the_app(request)
    if await needs_setup(app.db):
        return redirect("/setup")
    provider = app.single_sign_on.provider(request.path_params["provider"])
    next_path = local_path(request.query_params.get("next"))
    try:
        begun = await app.single_sign_on.begin(
            provider, _callback(request, provider), next_path if len(next_path) <= LONGEST_NEXT else HOME
        )
    except ProviderUnavailable as error:
        return await _failed(request, provider, error)
    response = RedirectResponse(begun.url, 303)
    _set_cookie(response, request, provider, begun)
    return response


async def finish_sign_in(request: Request) -> Response:
    """Where the provider redirects to: signs in, or links the identity to the user who began it."""
    single_sign_on = the_app(request).single_sign_on
    provider = single_sign_on.provider(request.path_params["provider"])
    try:
        proven = await single_sign_on.finish(provider, request.cookies.get(COOKIE), _answer(request))
        response = await (_link(request, proven) if proven.pending.linking_user_id else _sign_in(request, proven))
    except (ProviderSignInRefused, ProviderUnavailable) as error:
        response = await _failed(request, provider, error)
    response.delete_cookie(COOKIE, path=_path(provider), httponly=True, samesite="lax", secure=is_https(request))
    return response


@accepts_form({})
async def begin_linking(request: Request) -> Response:
    """Shows a page that goes on to the provider: browsers don't let a form redirect to another site."""
    caller = await signed_in(request)
    await checked_form(request)
    single_sign_on = the_app(request).single_sign_on
    provider = single_sign_on.provider(request.path_params["provider"])
    try:
        begun = await single_sign_on.begin(provider, _callback(request, provider), SETTINGS_PATH, caller.user.id)
    except ProviderUnavailable as error:
        return await _failed(request, provider, error)
    response = await leave_site(request, begun.url)
    _set_cookie(response, request, provider, begun)
    return response


@accepts_form({})
async def unlink(request: Request) -> Response:
    caller = await signed_in(request)
    await checked_form(request)
    app, now = the_app(request), datetime.now(UTC)
    try:
        await unlink_identity(app.db, app.settings, caller, path_id(request), origin_of(request).address, now)
    except Conflict:
        return redirect(SETTINGS_PATH, flash_error("single_sign_on.last_way"))
    return redirect(SETTINGS_PATH, flash_success("single_sign_on.unlinked"))


async def _sign_in(request: Request, proven: ProvenIdentity) -> Response:
    app, now, origin = the_app(request), datetime.now(UTC), origin_of(request)
    user = await user_of_proven_identity(app.db, proven, origin.address, now)
    provider = proven.provider
    session = SessionProvider(provider.id, proven.id_token if provider.sign_out else None)
    token, _ = await begin_session(app.db, user, origin, now, session_token_of(request), session)
    response = redirect(local_path(proven.pending.next_path))
    set_session_cookie(response, request, token)
    return response


async def _link(request: Request, proven: ProvenIdentity) -> Response:
    app, now, address = the_app(request), datetime.now(UTC), origin_of(request).address
    caller = await signed_in(request)
    try:
        await link_identity(app.db, caller, proven, address, now)
    except Conflict:
        return redirect(SETTINGS_PATH, flash_error("single_sign_on.taken"))
    return redirect(SETTINGS_PATH, flash_success("single_sign_on.linked", provider=proven.provider.label))


async def _failed(request: Request, provider: IdentityProvider, error: FeedmillError) -> Response:
    """The sign-in page with the reason. Somebody who is signed in stays so."""
    status = 502
    if isinstance(error, ProviderSignInRefused):
        status, address = 403, origin_of(request).address
        log.warning("provider_sign_in_refused", provider=provider.id, reason=error.reason, address=address)
    else:
        log.warning("identity_provider_failed", provider=provider.id, reason=str(error))
    request.state.caller = await session_caller_of(request)
    if request.state.caller is not None:
        return await render_page(request, "users/linking_failed.html", status, problem=error.message)
    return await show_sign_in_form(request, HOME, status, problem=error.message)


def _answer(request: Request) -> Mapping[str, str]:
    """The parameters of the provider. One that is there twice counts as missing."""
    sent = request.query_params.multi_items()
    names = [name for name, _ in sent]
    return {name: value for name, value in sent if names.count(name) == 1} if len(sent) <= 20 else {}


def _callback(request: Request, provider: IdentityProvider) -> str:
    """An address for each provider, so that the answer of one is never taken for that of another."""
    return f"{site_of(request)}{_path(provider)}/callback"


def _path(provider: IdentityProvider) -> str:
    return f"/login/oidc/{provider.id}"


def _set_cookie(response: Response, request: Request, provider: IdentityProvider, begun: BegunSignIn) -> None:
    # Lax: the provider's redirect comes from another site.
    response.set_cookie(
        COOKIE,
        begun.cookie,
        COOKIE_SECONDS,
        path=_path(provider),
        httponly=True,
        samesite="lax",
        secure=is_https(request),
    )


routes = [
    Route("/login/oidc/{provider}", begin_sign_in, methods=["GET"]),
    Route("/login/oidc/{provider}/callback", finish_sign_in, methods=["GET"]),
    Route("/settings/identities/{id:int}/unlink", unlink, methods=["POST"]),
    Route("/settings/identities/{provider}/link", begin_linking, methods=["POST"]),
]
