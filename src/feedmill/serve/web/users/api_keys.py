"""`/settings/api-keys`: lists, creates and revokes API keys."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, LimitExceeded
from feedmill.library.users import api_keys
from feedmill.model.pool import PoolRight
from feedmill.model.user import SCOPES
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import TEXT, accepts_form, one_of
from feedmill.serve.web.core.localization import translator_and_dates
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page

API_KEYS_PATH = "/settings/api-keys"
LONGEST_NAME = 190
# Days until a key expires; empty: never.
LIFETIME_DAYS = ("", "30", "90", "365")


async def list_api_keys(request: Request) -> Response:
    await signed_in(request)
    return await _show(request)


@accepts_form(
    {"name": TEXT, "scope": one_of(*SCOPES).repeated, "days": one_of(*LIFETIME_DAYS), "pool_group": TEXT.repeated}
)
async def create_api_key(request: Request) -> Response:
    """Creates a key and shows it in the response: it is not stored, so no later page could."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    name = " ".join(form_text(sent, "name").split())[:LONGEST_NAME]
    scopes = [scope for scope in SCOPES if scope in sent.getlist("scope")]
    errors = {} if name else {"name": "settings.key_needs_name"}
    errors |= {} if scopes else {"scope": "settings.key_needs_scope"}
    groups = [value for value in sent.getlist("pool_group") if isinstance(value, str)]
    asked: dict[str, Any] = {"name": name, "wanted": scopes, "groups": groups}
    if errors:
        return await _show(request, errors, **asked)
    now, days = datetime.now(UTC), form_text(sent, "days")
    ends = now + timedelta(days=int(days)) if days in LIFETIME_DAYS and days else None
    try:
        secret, key = await api_keys.create_api_key(
            the_app(request).db, caller, name, scopes, ends, now, groups or None
        )
    except LimitExceeded:
        return await _show(request, {"name": "settings.too_many_keys"}, **asked)
    except BadInput:
        return await _show(request, {"pool_group": "settings.bad_key_groups"}, **asked)
    return await _show(request, made=(secret, key.name))


@accepts_form({})
async def revoke_api_key(request: Request) -> Response:
    caller = await signed_in(request)
    await checked_form(request)
    await api_keys.revoke_api_key(the_app(request).db, caller, path_id(request), datetime.now(UTC))
    return redirect(API_KEYS_PATH, flash_success("settings.key_revoked"))


async def _show(
    request: Request,
    errors: dict[str, str] | None = None,
    name: str = "",
    wanted: list[str] | None = None,
    groups: Sequence[str] = (),
    made: tuple[str, str] | None = None,
) -> Response:
    caller, app = request.state.caller, the_app(request)
    keys = await api_keys.list_api_keys(app.db, caller, datetime.now(UTC))
    t, _ = translator_and_dates(request)
    lives = [(days, t("settings.in_days", n=int(days)) if days else t("settings.never")) for days in LIFETIME_DAYS]
    return await render_page(
        request,
        "users/api_keys.html",
        422 if errors else 200,
        active="/settings",
        errors=errors or {},
        name=name,
        keys=keys,
        made=made,
        lives=lives,
        made_with=Counter(key.parent_key_id for key in keys if key.parent_key_id),
        names={key.id: key.name for key in keys},
        pool_groups=await app.pools.groups_for(caller, *PoolRight),
        groups=groups,
        scopes=[scope for scope in SCOPES if scope in caller.scopes],
        wanted=["read"] if wanted is None else wanted,
        api=str(request.base_url).rstrip("/") + "/api",
    )


routes = [
    Route(API_KEYS_PATH, list_api_keys, methods=["GET"]),
    Route(API_KEYS_PATH, create_api_key, methods=["POST"]),
    Route(f"{API_KEYS_PATH}/{{id:int}}/revoke", revoke_api_key, methods=["POST"]),
]
