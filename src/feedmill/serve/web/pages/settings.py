"""`/settings`: what a person prefers on every device, and the password."""

from dataclasses import asdict, replace
from datetime import UTC, datetime

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, TooMany
from feedmill.library.accounts import change_password
from feedmill.library.preferences import keep_preferences
from feedmill.serve.auth import origin_of
from feedmill.serve.web.flash import say
from feedmill.serve.web.habits import habits_of, zones
from feedmill.serve.web.look import CHOICES, keep_look, look_of
from feedmill.serve.web.page import form, go, show, signed_in, speech, text, the_app

# What else a device may have a look of its own for.
LOOKS = ("theme", "language", "density")
WRONG = {"current": "settings.wrong_current", "password": "setup.bad_password"}


async def ask(request: Request) -> Response:
    await signed_in(request)
    return await _show(request)


async def change(request: Request) -> Response:
    """Keeps the preferences with the account; this device follows them from now on."""
    caller = await signed_in(request)
    sent = await form(request)
    wishes = {name: value for name, value in sent.items() if isinstance(value, str)}
    looks = {name: wishes[name] for name in LOOKS if wishes.get(name) in CHOICES[name]}
    own = look_of(request).changed(looks)
    habits = asdict(habits_of(request).changed(wishes))
    user = await keep_preferences(the_app(request).db, caller.user, {**looks, **habits})
    request.state.caller = replace(caller, user=user)
    response = go("/settings", say("settings.kept"))
    keep_look(request, response, own)
    return response


async def change_own_password(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await form(request)
    errors = _check(sent)
    if not errors:
        now, origin = datetime.now(UTC), origin_of(request)
        try:
            await change_password(the_app(request).db, caller, text(sent, "current"), text(sent, "new"), origin, now)
        except BadInput as error:
            errors = {"new" if error.field == "password" else "current": WRONG[str(error.field)]}
        except TooMany:
            errors = {"current": "settings.too_many_tries"}
    return await _show(request, errors) if errors else go("/settings", say("settings.password_changed"))


def _check(sent: FormData) -> dict[str, str]:
    return {} if text(sent, "new") == text(sent, "again") else {"again": "setup.not_the_same"}


async def _show(request: Request, errors: dict[str, str] | None = None) -> Response:
    t, _ = speech(request)
    choices = [("", t("settings.zone_auto")), *((zone, zone.replace("_", " ")) for zone in zones())]
    return await show(request, "settings.html", 422 if errors else 200, zones=choices, errors=errors or {})


routes = [
    Route("/settings", ask, methods=["GET"]),
    Route("/settings", change, methods=["POST"]),
    Route("/settings/password", change_own_password, methods=["POST"]),
]
