"""`/admin/hosts`: how often each host is asked, what it wants, and which hosts nobody asks."""

from datetime import UTC, datetime
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, NotFound
from feedmill.library.blocking import block_host, read_host, unblock_host
from feedmill.library.hosts import see_host, see_hosts
from feedmill.model.standing import standing
from feedmill.serve.rest.cursors import cursor_at, cut, place_at
from feedmill.serve.web.flash import say
from feedmill.serve.web.page import form, go, show, the_app
from feedmill.serve.web.pages.admin_feeds import address, title
from feedmill.serve.web.pages.admin_users import actor, cursor_of
from feedmill.serve.web.scoped import signed_in_admin
from feedmill.store.administered_feeds import feeds_of_host
from feedmill.store.blocked_hosts import blocked_names, blocked_page, feeds_under, read_blocked

HERE = "/admin/hosts"
ROWS = 50
MOST_BLOCKED = 1000
LONGEST_NAME = 2000


async def every(request: Request) -> Response:
    await signed_in_admin(request)
    if "host" in request.query_params:
        return await _look_at(request, request.query_params["host"][:LONGEST_NAME])
    return await _show(request)


async def _look_at(request: Request, typed: str) -> Response:
    """The page of the host that somebody typed."""
    try:
        return go(path_of(read_host(typed)))
    except BadInput:
        return await _show(request, typed, "admin.bad_host")


async def _show(request: Request, typed: str = "", error: str = "") -> Response:
    app, now = the_app(request), datetime.now(UTC)
    found = await see_hosts(app.db, app.coordination.turns, place_at(cursor_of(request), ""), ROWS + 1, now)
    page, last = cut(found, ROWS)
    return await show(
        request, "admin_hosts.html", 422 if error else 200, active="/admin", hosts=page, path_of=path_of,
        blocked=await blocked_page(app.db, "", MOST_BLOCKED), gap=app.settings.host_gap, typed=typed, error=error,
        more=f"{HERE}?cursor={cursor_at(last.host)}" if last else None,
    )  # fmt: skip


async def one(request: Request) -> Response:
    await signed_in_admin(request)
    app, name, now = the_app(request), _host(request), datetime.now(UTC)
    page, last = cut(await feeds_of_host(app.db, name, place_at(cursor_of(request), 0), ROWS + 1), ROWS)
    blocked = await blocked_names(app.db)
    return await show(
        request, "admin_host.html", active="/admin", name=name, path=path_of(name), feeds=page,
        host=await see_host(app.db, app.coordination.turns, name, now), block=await read_blocked(app.db, name),
        resting=sum((await feeds_under(app.db, name, blocked)).values()), standing=standing, address=address,
        title_of=title, more=f"{path_of(name)}?cursor={cursor_at(last.feed.id)}" if last else None,
    )  # fmt: skip


async def block(request: Request) -> Response:
    caller = await signed_in_admin(request)
    await form(request)
    app, name = the_app(request), _host(request)
    done = await block_host(app.db, app.blocks, name, actor(caller, request), datetime.now(UTC))
    return go(path_of(name), say("admin.host_blocked", host=name, n=done.feeds))


async def unblock(request: Request) -> Response:
    caller = await signed_in_admin(request)
    await form(request)
    app, name = the_app(request), _host(request)
    done = await unblock_host(app.db, app.blocks, name, actor(caller, request), datetime.now(UTC))
    return go(path_of(name), say("admin.host_unblocked", host=name, n=done.feeds))


def path_of(host: str) -> str:
    return f"{HERE}/{quote(host, safe='')}"


def _host(request: Request) -> str:
    """The host that the path names, in the one form that it has."""
    name: str = request.path_params["host"]
    try:
        if read_host(name) == name:
            return name
    except BadInput:
        pass
    raise NotFound("there is no such host")


_ONE = f"{HERE}/{{host}}"
routes = [
    Route(HERE, every),
    Route(_ONE, one),
    Route(f"{_ONE}/block", block, methods=["POST"]),
    Route(f"{_ONE}/unblock", unblock, methods=["POST"]),
]
