"""`/admin/hosts`: load per host, and blocking hosts."""

from datetime import UTC, datetime
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.admin.blocked_hosts import block_host, parse_blocked_host, unblock_host
from feedmill.library.admin.hosts import host_overview, hosts_overview
from feedmill.library.cursors import cursor_at
from feedmill.model.feed import feed_state
from feedmill.serve.http.auth import actor
from feedmill.serve.http.paginate import decode_cursor, query_cursor, split_page
from feedmill.serve.web.admin.feeds import public_title, public_url
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in_admin
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import accepts_form
from feedmill.serve.web.core.read_form import checked_form
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page
from feedmill.store.admin.blocked_hosts import (
    blocked_host_names,
    blocked_hosts_page,
    count_feeds_under_host,
    read_blocked_host,
)
from feedmill.store.admin.feeds import feeds_of_host

HOSTS_PATH = "/admin/hosts"
ROWS = 50
MAX_BLOCKED = 1000
LONGEST_NAME = 2000


async def list_hosts(request: Request) -> Response:
    await signed_in_admin(request)
    if "host" in request.query_params:
        return await _redirect_to_host(request, request.query_params["host"][:LONGEST_NAME])
    return await _show(request)


async def _redirect_to_host(request: Request, typed: str) -> Response:
    """Redirects to the page of the host that was typed."""
    try:
        return redirect(path_of(parse_blocked_host(typed)))
    except BadInput:
        return await _show(request, typed, "admin.bad_host")


async def _show(request: Request, typed: str = "", error: str = "") -> Response:
    app, now = the_app(request), datetime.now(UTC)
    found = await hosts_overview(
        app.db, app.coordination.host_slots, decode_cursor(query_cursor(request), ""), ROWS + 1, now
    )
    page, last = split_page(found, ROWS)
    return await render_page(
        request,
        "admin/hosts.html",
        422 if error else 200,
        active="/admin",
        hosts=page,
        path_of=path_of,
        blocked=await blocked_hosts_page(app.db, "", MAX_BLOCKED),
        gap=app.settings.host_gap,
        typed=typed,
        error=error,
        more=f"{HOSTS_PATH}?cursor={cursor_at(last.host)}" if last else None,
    )


async def show_host(request: Request) -> Response:
    await signed_in_admin(request)
    app, name, now = the_app(request), _host(request), datetime.now(UTC)
    page, last = split_page(await feeds_of_host(app.db, name, decode_cursor(query_cursor(request), 0), ROWS + 1), ROWS)
    blocked = await blocked_host_names(app.db)
    return await render_page(
        request,
        "admin/host.html",
        active="/admin",
        name=name,
        path=path_of(name),
        feeds=page,
        host=await host_overview(app.db, app.coordination.host_slots, name, now),
        block=await read_blocked_host(app.db, name),
        resting=sum((await count_feeds_under_host(app.db, name, blocked)).values()),
        standing=feed_state,
        address=public_url,
        title_of=public_title,
        more=f"{path_of(name)}?cursor={cursor_at(last.feed.id)}" if last else None,
    )


@accepts_form({})
async def block(request: Request) -> Response:
    caller = await signed_in_admin(request)
    await checked_form(request)
    app, name = the_app(request), _host(request)
    done = await block_host(app.db, app.blocks, name, actor(caller, request), datetime.now(UTC))
    return redirect(path_of(name), flash_success("admin.host_blocked", host=name, n=done.feeds))


@accepts_form({})
async def unblock(request: Request) -> Response:
    caller = await signed_in_admin(request)
    await checked_form(request)
    app, name = the_app(request), _host(request)
    done = await unblock_host(app.db, app.blocks, name, actor(caller, request), datetime.now(UTC))
    return redirect(path_of(name), flash_success("admin.host_unblocked", host=name, n=done.feeds))


def path_of(host: str) -> str:
    return f"{HOSTS_PATH}/{quote(host, safe='')}"


def _host(request: Request) -> str:
    """The host in the path, normalized."""
    name: str = request.path_params["host"]
    try:
        if parse_blocked_host(name) == name:
            return name
    except BadInput:
        pass
    raise NotFound(Message("error.no_such_host"))


_ONE = f"{HOSTS_PATH}/{{host}}"
routes = [
    Route(HOSTS_PATH, list_hosts),
    Route(_ONE, show_host),
    Route(f"{_ONE}/block", block, methods=["POST"]),
    Route(f"{_ONE}/unblock", unblock, methods=["POST"]),
]
