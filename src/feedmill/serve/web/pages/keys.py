"""`/keys`: what the keyboard does, which is what `?` opens; `/keys/edit`: other keys for it."""

from collections.abc import Mapping

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput
from feedmill.library.preferences import keep_preferences
from feedmill.serve.web.flash import say
from feedmill.serve.web.keymap import (
    FIXED,
    KEYS,
    PREFERENCE,
    PRESETS,
    USUAL,
    Keymap,
    faults,
    is_free,
    keymap_of,
    packed,
    split,
)
from feedmill.serve.web.page import form, go, render, show, signed_in, text, the_app
from feedmill.serve.web.problems import is_partial

LONGEST = 40


async def keys(request: Request) -> Response:
    await signed_in(request)
    keymap = keymap_of(request)
    if is_partial(request):
        return render(request, "parts/keys.html", sections=KEYS, keymap=keymap)
    return await show(request, "keys.html", sections=KEYS, keymap=keymap)


async def ask(request: Request) -> Response:
    await signed_in(request)
    return await _show(request, keymap_of(request))


async def change(request: Request) -> Response:
    """Keeps what the fields say, or a whole set of keys, for the account."""
    caller = await signed_in(request)
    sent = await form(request)
    keymap = _preset(text(sent, "preset")) if sent.get("preset") else _written(sent)
    if wrong := faults(keymap):
        return await _show(request, keymap, wrong)
    await keep_preferences(the_app(request).db, caller.user, {PREFERENCE: packed(keymap)})
    return go("/keys", say("keys.kept"))


def _preset(name: str) -> Keymap:
    if name not in PRESETS:
        raise BadInput("there is no such set of keys", "preset")
    return PRESETS[name]


def _written(sent: FormData) -> Keymap:
    return {action: split(text(sent, action)[:LONGEST]) if is_free(action) else keys for action, keys in USUAL.items()}


async def _show(request: Request, keymap: Keymap, wrong: Mapping[str, str] | None = None) -> Response:
    status = 422 if wrong else 200
    return await show(
        request, "keys_edit.html", status, sections=KEYS, keymap=keymap, fixed=FIXED, presets=list(PRESETS),
        wrong=wrong or {},
    )  # fmt: skip


routes = [
    Route("/keys", keys),
    Route("/keys/edit", ask, methods=["GET"]),
    Route("/keys/edit", change, methods=["POST"]),
]
