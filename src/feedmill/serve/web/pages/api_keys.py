"""`/settings/keys`: keys for programs, each shown once."""

from datetime import UTC, datetime, timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import NotFound, TooMany
from feedmill.library.api_keys import make_key
from feedmill.model.account import SCOPES
from feedmill.serve.web.flash import say
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import form, go, show, signed_in, speech, text, the_app
from feedmill.store.tokens import revoke_token, tokens_of

HERE = "/settings/keys"
LONGEST_NAME = 190
# After how many days a key ends by itself; the empty one never does.
LIVES = ("", "30", "90", "365")


async def every(request: Request) -> Response:
    await signed_in(request)
    return await _show(request)


async def make(request: Request) -> Response:
    """Shows the new key on the page that answers: it is kept nowhere, so no later page could."""
    caller = await signed_in(request)
    sent = await form(request)
    name = " ".join(text(sent, "name").split())[:LONGEST_NAME]
    scopes = [scope for scope in SCOPES if scope in sent.getlist("scope")]
    errors = {} if name else {"name": "settings.key_needs_name"}
    errors |= {} if scopes else {"scope": "settings.key_needs_scope"}
    if errors:
        return await _show(request, errors, name=name, wanted=scopes)
    now, days = datetime.now(UTC), text(sent, "days")
    ends = now + timedelta(days=int(days)) if days in LIVES and days else None
    try:
        secret, token = await make_key(the_app(request).db, caller, name, scopes, ends, now)
    except TooMany:
        return await _show(request, {"name": "settings.too_many_keys"}, name=name, wanted=scopes)
    return await _show(request, made=(secret, token.name))


async def revoke(request: Request) -> Response:
    caller = await signed_in(request)
    await form(request)
    if not await revoke_token(the_app(request).db, caller.user.id, path_id(request), datetime.now(UTC)):
        raise NotFound("you have no such key")
    return go(HERE, say("settings.key_revoked"))


async def _show(
    request: Request, errors: dict[str, str] | None = None, name: str = "", wanted: list[str] | None = None,
    made: tuple[str, str] | None = None,
) -> Response:  # fmt: skip
    caller = request.state.caller
    t, _ = speech(request)
    lives = [(days, t("settings.in_days", n=int(days)) if days else t("settings.never")) for days in LIVES]
    return await show(
        request, "api_keys.html", 422 if errors else 200, active="/settings", errors=errors or {}, name=name,
        keys=await tokens_of(the_app(request).db, caller.user.id, datetime.now(UTC)), made=made, lives=lives,
        scopes=[scope for scope in SCOPES if scope in caller.scopes], wanted=["read"] if wanted is None else wanted,
        api=str(request.base_url).rstrip("/") + "/api",
    )  # fmt: skip


routes = [
    Route(HERE, every, methods=["GET"]),
    Route(HERE, make, methods=["POST"]),
    Route(f"{HERE}/{{id:int}}/revoke", revoke, methods=["POST"]),
]
