"""`/pools`: how full each pool is, live, and taking an item as a program would."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import NotFound
from feedmill.model.account import ADMIN
from feedmill.model.pool import Group, Guarantee, Kind, State
from feedmill.model.times import to_text
from feedmill.pools.texts import as_queued
from feedmill.pools.tools import PoolEmpty, PoolPaused
from feedmill.serve.sampling import Sampled
from feedmill.serve.web.flash import say, say_failed
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import form, go, render, show, text, the_app
from feedmill.serve.web.plots import sparkline
from feedmill.serve.web.pool_board import Board, gauge, read_board
from feedmill.serve.web.scoped import signed_in_pool_user
from feedmill.serve.web.streams import message, streamed

HERE = "/pools"
EVERY = 2.0
# Then the browser comes again, and shows again who it is.
LONGEST = 300
WHO = "web page"


async def board(request: Request) -> Response:
    await signed_in_pool_user(request)
    return await show(request, "pools.html", **_values(request, await read_board(the_app(request).pools)))


async def events(request: Request) -> Response:
    await signed_in_pool_user(request)
    return streamed(_events(request, _sampled(request)))


async def _events(request: Request, sampled: Sampled[Board]) -> AsyncGenerator[bytes, None]:
    for _ in range(LONGEST):
        await asyncio.sleep(EVERY)
        found = await sampled.read()
        if found is not None:
            yield message(render(request, "parts/pool_board.html", **_values(request, found)))


def _sampled(request: Request) -> Sampled[Board]:
    """One for all who watch, so that many of them cost no more than one."""
    state = request.app.state
    if not hasattr(state, "pool_board"):
        state.pool_board = Sampled(lambda: read_board(state.app.pools))
    sampled: Sampled[Board] = state.pool_board
    return sampled


def _values(request: Request, found: Board) -> dict[str, Any]:
    may_change = ADMIN in request.state.caller.scopes
    return {"board": found, "gauge": gauge, "sparkline": sparkline, "may_change": may_change}


async def take(request: Request) -> Response:
    """Takes one item for good, or lends it, and shows what a program would get."""
    await signed_in_pool_user(request)
    await form(request)
    group, kind = await _pool(request)
    options = group.options(kind)
    lends = options.guarantee is Guarantee.LEASE
    try:
        answer = await _taken(request, group, kind, lends)
    except PoolEmpty:
        return go(HERE, say_failed("pools.nothing_to_take", name=group.name))
    except PoolPaused:
        return go(HERE, say_failed("pools.is_paused", name=group.name))
    shown = msgspec.json.format(msgspec.json.encode(answer), indent=2).decode()
    request_line = f"POST /api/pools/{group.id}/{kind}/{'lease' if lends else 'pop'}"
    return await show(
        request, "pool_taken.html", active=HERE, group=group, kind=kind, answer=shown, asked=request_line, lends=lends,
        token=answer.get("token", ""), item_id=answer["items"][0]["id"], seconds=options.lease_seconds,
    )  # fmt: skip


async def _taken(request: Request, group: Group, kind: Kind, lends: bool) -> dict[str, Any]:
    pools = the_app(request).pools
    if not lends:
        items = as_queued(await pools.pop(group.id, kind, 1, WHO), group.options(kind))
        return {"items": msgspec.to_builtins(items)}
    leased = await pools.lease(group.id, kind, 1, WHO)
    [item], [attempt] = as_queued(leased.items, group.options(kind)), leased.attempts
    shown = msgspec.structs.asdict(item) | {"attempt": attempt}
    return {"token": leased.token, "until": to_text(leased.until), "items": [shown]}


async def put_back(request: Request) -> Response:
    """Makes an item available again that was taken here by way of trial."""
    await signed_in_pool_user(request)
    sent = await form(request)
    group, kind = await _pool(request)
    id, token, pools = text(sent, "id"), text(sent, "token"), the_app(request).pools
    if not id.isdecimal() or len(id) > 16:
        raise NotFound("there is no such item")
    if token:
        await pools.nack(group.id, kind, token, [int(id)])
    else:
        await pools.requeue(group.id, kind, State.USED, [int(id)])
    return go(HERE, say("pools.is_back"))


async def _pool(request: Request) -> tuple[Group, Kind]:
    return await the_app(request).pools.group(path_id(request)), kind_of(request)


def kind_of(request: Request) -> Kind:
    """The kind of pool that the path names."""
    if request.path_params["kind"] not in list(Kind):
        raise NotFound("there is no such pool")
    return Kind(request.path_params["kind"])


_ONE = f"{HERE}/{{id:int}}"
routes = [
    Route(HERE, board),
    Route(f"{HERE}/events", events),
    Route(f"{_ONE}/{{kind}}/take", take, methods=["POST"]),
    Route(f"{_ONE}/{{kind}}/put-back", put_back, methods=["POST"]),
]
