"""`/pools/new` and `/pools/n`: groups made, changed, paused, filled and deleted; what was lost."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import NotFound
from feedmill.library.feed_names import names_of_feeds
from feedmill.model.pool import Group, Kind, PoolOptions, State
from feedmill.pools.tools import NothingToAsk
from feedmill.serve.web.flash import Said, say, say_failed
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import form, go, show, the_app
from feedmill.serve.web.pages.pools import kind_of
from feedmill.serve.web.pool_form import BLANK, read_form, values_of, values_sent
from feedmill.serve.web.scoped import signed_in_admin
from feedmill.store.pool_groups import GroupExists

BOARD = "/pools"


async def ask(request: Request) -> Response:
    await signed_in_admin(request)
    return await _show(request, None, BLANK, {})


async def make(request: Request) -> Response:
    await signed_in_admin(request)
    sent = await form(request)
    pools, (new, errors) = the_app(request).pools, await read_form(the_app(request).db, sent)
    if new is not None:
        options = [each.over(PoolOptions()) for each in (new.titles, new.contents)]
        try:
            group = await pools.create(new.name, new.rule.rule(), *options)
            return go(BOARD, say("pools.made", name=group.name))
        except GroupExists:
            errors = {"name": "pools.name_taken"}
    return await _show(request, None, values_sent(sent), errors)


async def one(request: Request) -> Response:
    await signed_in_admin(request)
    group = await the_app(request).pools.group(path_id(request))
    feeds = await names_of_feeds(the_app(request).db, group.rule.feeds)
    return await _show(request, group, values_of(group, feeds), {})


async def change(request: Request) -> Response:
    await signed_in_admin(request)
    sent = await form(request)
    pools = the_app(request).pools
    group = await pools.group(path_id(request))
    new, errors = await read_form(the_app(request).db, sent)
    if new is not None:
        changed = {
            "name": new.name, "rule": new.rule.rule(), "titles": new.titles.over(group.titles),
            "contents": new.contents.over(group.contents),
        }  # fmt: skip
        try:
            await pools.change(group.id, **changed)
            return go(BOARD, say("pools.changed", name=new.name))
        except GroupExists:
            errors = {"name": "pools.name_taken"}
    return await _show(request, group, values_sent(sent), errors)


async def _show(
    request: Request, group: Group | None, values: Mapping[str, Any], errors: Mapping[str, str]
) -> Response:
    status = 422 if errors else 200
    return await show(request, "pool_group.html", status, active=BOARD, group=group, values=values, errors=errors)


async def do(request: Request) -> Response:
    """What a button of a group asks for."""
    await signed_in_admin(request)
    await form(request)
    pools = the_app(request).pools
    group = await pools.group(path_id(request))
    match request.path_params["action"]:
        case "pause" | "resume" as action:
            await pools.change(group.id, paused=action == "pause")
            return go(BOARD, say("pools.paused" if action == "pause" else "pools.resumed", name=group.name))
        case "fill":
            return go(BOARD, say("pools.filled", n=await pools.fill(group.id)))
        case "delete":
            await pools.delete(group.id)
            return go(BOARD, say("pools.deleted", name=group.name))
    raise NotFound("a group has no such button")


async def do_to_pool(request: Request) -> Response:
    """What a button of one pool asks for."""
    await signed_in_admin(request)
    await form(request)
    pools, kind = the_app(request).pools, kind_of(request)
    group = await pools.group(path_id(request))
    match request.path_params["action"]:
        case "drain":
            return go(BOARD, await _drained(request, group, kind))
        case "requeue":
            return go(BOARD, say("pools.requeued", n=await pools.requeue(group.id, kind, State.DEAD)))
        case "release":
            return go(BOARD, say("pools.released", n=await pools.release_lost(group.id, kind)))
        case "settle":
            return go(BOARD, say("pools.settled", n=await pools.settle_lost(group.id, kind)))
    raise NotFound("a pool has no such button")


async def lost(request: Request) -> Response:
    """What is queued and in no list; looking for it takes some seconds."""
    await signed_in_admin(request)
    pools, kind = the_app(request).pools, kind_of(request)
    group = await pools.group(path_id(request))
    try:
        items = await pools.lost(group.id, kind)
    except NothingToAsk:
        return go(BOARD, say_failed("pools.no_redis"))
    return await show(request, "pool_lost.html", active=BOARD, group=group, kind=kind, items=items)


async def _drained(request: Request, group: Group, kind: Kind) -> Said:
    try:
        return say("pools.drained", n=await the_app(request).pools.drain(group.id, kind))
    except NothingToAsk:
        return say_failed("pools.no_redis")


_ONE = f"{BOARD}/{{id:int}}"
routes = [
    Route(f"{BOARD}/new", ask, methods=["GET"]),
    Route(f"{BOARD}/new", make, methods=["POST"]),
    Route(_ONE, one, methods=["GET"]),
    Route(_ONE, change, methods=["POST"]),
    Route(f"{_ONE}/{{action}}", do, methods=["POST"]),
    Route(f"{_ONE}/{{kind}}/lost", lost, methods=["GET"]),
    Route(f"{_ONE}/{{kind}}/{{action}}", do_to_pool, methods=["POST"]),
]
