"""Takes an item from a pool on a page, as a program would, and returns it."""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.model.pool import Guarantee, PoolGroup, PoolItemState, PoolKind
from feedmill.model.timestamps import to_iso
from feedmill.model.user import ADMIN
from feedmill.pools.errors import PoolEmpty, PoolPaused
from feedmill.pools.item_texts import to_queued_items
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in_admin, signed_in_pool_user
from feedmill.serve.web.core.flash import flash_error, flash_success
from feedmill.serve.web.core.form_fields import NUMBER, TEXT, accepts_form
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page
from feedmill.serve.web.pools.dashboard import DASHBOARD_PATH

TAKER_NAME = "web page"


@accepts_form({})
async def take_item(request: Request) -> Response:
    """Pops or leases one item, and shows what a program would get."""
    await signed_in_pool_user(request)
    await checked_form(request)
    group, kind = await _pool(request)
    options = group.options(kind)
    lends = options.guarantee is Guarantee.LEASE
    try:
        response = await _take(request, group, kind, lends)
    except PoolEmpty:
        return redirect(DASHBOARD_PATH, flash_error("pools.nothing_to_take", name=group.name))
    except PoolPaused:
        return redirect(DASHBOARD_PATH, flash_error("pools.is_paused", name=group.name))
    shown = msgspec.json.format(msgspec.json.encode(response), indent=2).decode()
    request_line = f"POST /api/pools/{group.id}/{kind}/{'lease' if lends else 'pop'}"
    return await render_page(
        request,
        "pools/taken_item.html",
        active=DASHBOARD_PATH,
        group=group,
        kind=kind,
        response=shown,
        asked=request_line,
        lends=lends,
        token=response.get("token", ""),
        item_id=response["items"][0]["id"],
        seconds=options.lease_seconds,
        may_change=ADMIN in request.state.caller.scopes,
    )


async def _take(request: Request, group: PoolGroup, kind: PoolKind, lends: bool) -> dict[str, Any]:
    pools = the_app(request).pools
    if not lends:
        items = to_queued_items(await pools.pop(group.id, kind, 1, TAKER_NAME), group.options(kind))
        return {"items": msgspec.to_builtins(items)}
    leased = await pools.lease(group.id, kind, 1, TAKER_NAME)
    [item], [attempt] = to_queued_items(leased.items, group.options(kind)), leased.attempts
    shown = msgspec.structs.asdict(item) | {"attempt": attempt}
    return {"token": leased.token, "until": to_iso(leased.until), "items": [shown]}


@accepts_form({"id": NUMBER, "token": TEXT})
async def return_item(request: Request) -> Response:
    """Makes an item available again that was taken here as a test. Only an admin can return a used one."""
    await signed_in_pool_user(request)
    sent = await checked_form(request)
    group, kind = await _pool(request)
    id, token, pools = form_text(sent, "id"), form_text(sent, "token"), the_app(request).pools
    if not token:
        await signed_in_admin(request)
    if not id.isdecimal() or len(id) > 16:
        raise NotFound(Message("error.no_such_item"))
    if token:
        await pools.nack(group.id, kind, token, [int(id)])
    else:
        await pools.requeue(group.id, kind, PoolItemState.USED, [int(id)])
    return redirect(DASHBOARD_PATH, flash_success("pools.is_back"))


async def _pool(request: Request) -> tuple[PoolGroup, PoolKind]:
    """The pool in the path, if the caller may take from it."""
    return await the_app(request).pools.group_for(request.state.caller, path_id(request)), requested_kind(request)


def requested_kind(request: Request) -> PoolKind:
    """The kind of pool in the path."""
    if request.path_params["kind"] not in list(PoolKind):
        raise NotFound(Message("error.no_such_pool"))
    return PoolKind(request.path_params["kind"])


_ONE = f"{DASHBOARD_PATH}/{{id:int}}"
routes = [
    Route(f"{_ONE}/{{kind}}/take", take_item, methods=["POST"]),
    Route(f"{_ONE}/{{kind}}/put-back", return_item, methods=["POST"]),
]
