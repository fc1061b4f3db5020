"""`/keys` and `/keys/edit`: shows and changes the keyboard shortcuts."""

from collections.abc import Mapping

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.users.preferences import save_preferences
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import TEXT, accepts_form, one_of
from feedmill.serve.web.core.keymap import (
    DEFAULT_KEYMAP,
    FIXED_ACTIONS,
    KEY_SECTIONS,
    PREFERENCE,
    PRESETS,
    Keymap,
    encode_keymap,
    is_configurable,
    keymap_errors,
    keymap_of,
    split_keys,
)
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page, render_template

LONGEST = 40


async def show_keymap(request: Request) -> Response:
    await signed_in(request)
    keymap = keymap_of(request)
    if is_fragment_request(request):
        return render_template(request, "users/keymap_table.html", sections=KEY_SECTIONS, keymap=keymap)
    return await render_page(request, "users/keymap.html", sections=KEY_SECTIONS, keymap=keymap)


async def show_keymap_form(request: Request) -> Response:
    await signed_in(request)
    return await _show(request, keymap_of(request))


@accepts_form(
    {
        "preset": one_of(*PRESETS).optional,
        **{action: TEXT.optional for action in DEFAULT_KEYMAP if is_configurable(action)},
    }
)
async def save_keymap(request: Request) -> Response:
    """Saves the keys of the form, or a preset, for the account."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    keymap = _preset(form_text(sent, "preset")) if sent.get("preset") else _written(sent)
    if wrong := keymap_errors(keymap):
        return await _show(request, keymap, wrong)
    await save_preferences(the_app(request).db, caller.user, {PREFERENCE: encode_keymap(keymap)})
    return redirect("/keys", flash_success("keymap.kept"))


def _preset(name: str) -> Keymap:
    if name not in PRESETS:
        raise BadInput(Message("error.no_such_keymap"), "preset")
    return PRESETS[name]


def _written(sent: FormData) -> Keymap:
    missing = [action for action in DEFAULT_KEYMAP if is_configurable(action) and action not in sent]
    if missing:
        # A field that is missing would remove the keys of its action.
        raise BadInput(Message("error.missing_field", name=missing[0]), missing[0])
    return {
        action: split_keys(form_text(sent, action)[:LONGEST]) if is_configurable(action) else keys
        for action, keys in DEFAULT_KEYMAP.items()
    }


async def _show(request: Request, keymap: Keymap, wrong: Mapping[str, str] | None = None) -> Response:
    status = 422 if wrong else 200
    return await render_page(
        request,
        "users/keymap_form.html",
        status,
        sections=KEY_SECTIONS,
        keymap=keymap,
        fixed=FIXED_ACTIONS,
        presets=list(PRESETS),
        wrong=wrong or {},
    )


routes = [
    Route("/keys", show_keymap),
    Route("/keys/edit", show_keymap_form, methods=["GET"]),
    Route("/keys/edit", save_keymap, methods=["POST"]),
]
