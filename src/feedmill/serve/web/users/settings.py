"""`/settings`: changes preferences and the password."""

from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, LimitExceeded
from feedmill.library.users.confirm_owner import OwnerProof
from feedmill.library.users.manage_users import change_password, count_keys
from feedmill.library.users.oidc.accounts import list_identities
from feedmill.library.users.preferences import save_preferences
from feedmill.library.users.sessions import list_sessions
from feedmill.serve.http.auth import origin_of
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.appearance import APPEARANCE_VALUES, appearance_of, save_appearance
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import CHECKBOX, TEXT, FormField, accepts_form, one_of
from feedmill.serve.web.core.localization import translator_and_dates
from feedmill.serve.web.core.preferences import PREFERENCE_VALUES as HABITS
from feedmill.serve.web.core.preferences import time_zones, user_preferences_of
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page

# Parts of the appearance that a device may override.
APPEARANCE_FIELDS = ("theme", "language", "density")
PREFERENCE_FIELDS = {
    **{name: one_of(*APPEARANCE_VALUES[name]).optional for name in APPEARANCE_FIELDS},
    **{name: one_of(*values).optional for name, values in HABITS.items()},
    "zone": FormField(lambda zone: zone in time_zones()).or_empty.optional,
}
# The field of the form and its text, by the field of the error.
PASSWORD_ERRORS = {
    "current": ("current", "settings.wrong_current"),
    "code": ("code", "two_factor.wrong_code"),
    "password": ("new", "setup.bad_password"),
}
PASSWORD_FIELDS = {
    "username": TEXT.optional,
    "current": TEXT,
    "code": TEXT.optional,
    "new": TEXT,
    "again": TEXT,
    "revoke_keys": CHECKBOX,
}


async def show_settings(request: Request) -> Response:
    await signed_in(request)
    return await _show(request)


@accepts_form(PREFERENCE_FIELDS)
async def save_settings(request: Request) -> Response:
    """Saves the preferences with the account, and removes the overrides of this device."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    sent_values = {name: value for name, value in sent.items() if isinstance(value, str)}
    appearance = {
        name: sent_values[name] for name in APPEARANCE_FIELDS if sent_values.get(name) in APPEARANCE_VALUES[name]
    }
    own = appearance_of(request).changed(appearance)
    preferences = asdict(user_preferences_of(request).changed(sent_values))
    user = await save_preferences(the_app(request).db, caller.user, {**appearance, **preferences})
    request.state.caller = replace(caller, user=user)
    response = redirect("/settings", flash_success("settings.kept"))
    save_appearance(request, response, own)
    return response


@accepts_form(PASSWORD_FIELDS)
async def change_own_password(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    errors = _check(sent)
    if not errors:
        now, origin = datetime.now(UTC), origin_of(request)
        proof, new = OwnerProof(form_text(sent, "current"), form_text(sent, "code")), form_text(sent, "new")
        app, revoke_keys = the_app(request), bool(form_text(sent, "revoke_keys"))
        try:
            ended = await change_password(
                app.db, app.tools.encryption, caller, proof, new, origin, now, revoke_keys=revoke_keys
            )
            return redirect("/settings", flash_success("settings.password_changed", **asdict(ended)))
        except BadInput as error:
            field, key = PASSWORD_ERRORS[str(error.field)]
            errors = {field: key}
        except LimitExceeded:
            errors = {"current": "settings.too_many_tries"}
    return await _show(request, errors)


def _check(sent: FormData) -> dict[str, str]:
    return {} if form_text(sent, "new") == form_text(sent, "again") else {"again": "setup.not_the_same"}


async def _show(request: Request, errors: dict[str, str] | None = None) -> Response:
    t, _ = translator_and_dates(request)
    db, caller, now = the_app(request).db, request.state.caller, datetime.now(UTC)
    choices = [("", t("settings.zone_auto")), *((zone, zone.replace("_", " ")) for zone in time_zones())]
    return await render_page(
        request,
        "users/settings.html",
        422 if errors else 200,
        zones=choices,
        errors=errors or {},
        other_sessions=len(await list_sessions(db, caller, now)) - 1,
        keys=await count_keys(db, caller.user.id, now),
        **await _sign_in_values(request),
    )


async def _sign_in_values(request: Request) -> dict[str, Any]:
    """What the sections on the password and on identity providers show."""
    app, caller = the_app(request), request.state.caller
    names = {provider.issuer: provider.label for provider in app.settings.oidc}
    linked = await list_identities(app.db, caller)
    issuers = {identity.issuer for identity in linked}
    return {
        "may_use_password": app.settings.password_sign_in and caller.user.has_password,
        "identities": [asdict(each) | {"provider": names.get(each.issuer, each.issuer)} for each in linked],
        "providers": [provider for provider in app.settings.oidc if provider.issuer not in issuers],
    }


routes = [
    Route("/settings", show_settings, methods=["GET"]),
    Route("/settings", save_settings, methods=["POST"]),
    Route("/settings/password", change_own_password, methods=["POST"]),
]
