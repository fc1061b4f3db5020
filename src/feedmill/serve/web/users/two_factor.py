"""`/settings/two-factor`: sets up a second factor, renews its recovery codes, turns it off."""

from datetime import UTC, datetime

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, Conflict, LimitExceeded
from feedmill.library.users.confirm_owner import OwnerProof
from feedmill.library.users.totp import BASE_32, authenticator_uri, new_secret
from feedmill.library.users.two_factor import (
    AlreadyOn,
    count_recovery_codes,
    must_set_up_two_factor,
    renew_recovery_codes,
    turn_off_two_factor,
    turn_on_two_factor,
)
from feedmill.serve.http.auth import origin_of
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in, signed_in_with_password
from feedmill.serve.web.core.error_pages import SET_UP_PATH
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import TEXT, accepts_form, matching
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page
from feedmill.serve.web.users.qr_code import draw_qr_code

TWO_FACTOR_PATH = "/settings/two-factor"
ERROR_KEYS = {"current": "settings.wrong_current", "code": "two_factor.wrong_code"}
TOO_MANY = {"current": "settings.too_many_tries"}
PROOF_FIELDS = {"username": TEXT.optional, "current": TEXT, "code": TEXT}


async def show_two_factor(request: Request) -> Response:
    await signed_in(request)
    return await _show(request)


async def show_set_up(request: Request) -> Response:
    """A new secret with each request; it is stored when a code of it is entered."""
    caller = await signed_in_with_password(request)
    return redirect(TWO_FACTOR_PATH) if caller.user.has_two_factor else await _show_set_up(request, new_secret())


@accepts_form({**PROOF_FIELDS, "secret": matching(BASE_32)})
async def set_up(request: Request) -> Response:
    """Turns it on and shows the recovery codes: they are not stored, so no later page could."""
    caller = await signed_in_with_password(request)
    sent = await checked_form(request)
    app, secret = the_app(request), form_text(sent, "secret")
    done = "/" if must_set_up_two_factor(app.settings, caller.user) else TWO_FACTOR_PATH
    now, origin = datetime.now(UTC), origin_of(request)
    try:
        codes = await turn_on_two_factor(app.db, app.tools.encryption, caller, secret, _proof(sent), origin, now)
    except BadInput as error:
        return await _show_set_up(request, secret, {str(error.field): ERROR_KEYS[str(error.field)]})
    except LimitExceeded:
        return await _show_set_up(request, secret, TOO_MANY)
    except AlreadyOn:
        return redirect(TWO_FACTOR_PATH)
    return await _show_codes(request, codes, done)


@accepts_form(PROOF_FIELDS)
async def renew_codes(request: Request) -> Response:
    caller = await signed_in(request)
    proof, app = _proof(await checked_form(request)), the_app(request)
    now, origin = datetime.now(UTC), origin_of(request)
    try:
        codes = await renew_recovery_codes(app.db, app.tools.encryption, caller, proof, origin, now)
    except BadInput as error:
        return await _show(request, {str(error.field): ERROR_KEYS[str(error.field)]})
    except LimitExceeded:
        return await _show(request, TOO_MANY)
    except Conflict:
        return redirect(TWO_FACTOR_PATH)
    return await _show_codes(request, codes, TWO_FACTOR_PATH)


@accepts_form(PROOF_FIELDS)
async def turn_off(request: Request) -> Response:
    caller = await signed_in(request)
    proof, app = _proof(await checked_form(request)), the_app(request)
    now, origin = datetime.now(UTC), origin_of(request)
    try:
        await turn_off_two_factor(app.db, app.tools.encryption, caller, proof, origin, now)
    except BadInput as error:
        return await _show(request, {str(error.field): ERROR_KEYS[str(error.field)]})
    except LimitExceeded:
        return await _show(request, TOO_MANY)
    return redirect("/settings", flash_success("two_factor.turned_off"))


def _proof(sent: FormData) -> OwnerProof:
    return OwnerProof(form_text(sent, "current"), form_text(sent, "code"))


async def _show(request: Request, errors: dict[str, str] | None = None) -> Response:
    return await render_page(
        request,
        "users/two_factor.html",
        422 if errors else 200,
        active="/settings",
        errors=errors or {},
        codes_left=await count_recovery_codes(the_app(request).db, request.state.caller),
    )


async def _show_set_up(request: Request, secret: str, errors: dict[str, str] | None = None) -> Response:
    user = request.state.caller.user
    account = f"{user.name}@{request.url.hostname}"
    return await render_page(
        request,
        "users/two_factor_set_up.html",
        422 if errors else 200,
        errors=errors or {},
        secret=secret,
        qr_code=draw_qr_code(authenticator_uri(secret, account)),
        is_required=must_set_up_two_factor(the_app(request).settings, user),
    )


async def _show_codes(request: Request, codes: list[str], done: str) -> Response:
    return await render_page(request, "users/recovery_codes.html", codes=codes, done=done)


routes = [
    Route(TWO_FACTOR_PATH, show_two_factor, methods=["GET"]),
    Route(SET_UP_PATH, show_set_up, methods=["GET"]),
    Route(SET_UP_PATH, set_up, methods=["POST"]),
    Route(f"{TWO_FACTOR_PATH}/codes", renew_codes, methods=["POST"]),
    Route(f"{TWO_FACTOR_PATH}/off", turn_off, methods=["POST"]),
]
