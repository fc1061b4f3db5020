"""`/api/pools/{group}/{titles|contents}`: items handed out, settled and accounted for."""

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Path, Query, Response

from feedmill.app import App
from feedmill.errors import NotFound
from feedmill.model.pool import Kind, Leased, PoolOptions, State
from feedmill.model.times import to_text
from feedmill.pools.texts import as_queued
from feedmill.pools.tools import MOST_AT_ONCE
from feedmill.serve.rest.fields import PathId
from feedmill.serve.rest.parts import Admin, PoolUser, TheApp
from feedmill.serve.rest.pool_forms import DAY, Status
from feedmill.serve.rest.pool_item_forms import (
    Count,
    Extension,
    Held,
    ItemShown,
    ItemsShown,
    LeasedItems,
    Looking,
    Lost,
    LostItems,
    PoolItem,
    Popped,
    Requeue,
)
from feedmill.serve.rest.pools import GroupName
from feedmill.serve.rest.problems import described

router = APIRouter(prefix="/pools", tags=["pools"])

KindOf = Annotated[Kind, Path(description="Which pool of the group.")]
HowMany = Annotated[int, Query(ge=1, le=MOST_AT_ONCE, description="How many items at most.")]
Name = Annotated[str, Query(max_length=90, pattern=r"^[ -~]*$", description="Who takes them, for the record.")]


@router.post("/{group}/{kind}/pop", response_model=Popped, responses=described(404, 409))
async def pop_items(
    app: TheApp, key: PoolUser, group: GroupName, kind: KindOf, n: HowMany = 1, who: Name = ""
) -> Response:
    """Takes items that nobody else ever gets. `pool_empty` (404) when there are none now."""
    items = await app.pools.pop(group, kind, n, who)
    return _json({"items": as_queued(items, await _options(app, group, kind))})


@router.post("/{group}/{kind}/lease", response_model=LeasedItems, responses=described(404, 409))
async def lease_items(
    app: TheApp, key: PoolUser, group: GroupName, kind: KindOf, n: HowMany = 1, who: Name = "",
    seconds: Annotated[int | None, Query(ge=1, le=DAY, description="For how long; else as the pool says.")] = None,
) -> Response:  # fmt: skip
    """Borrows items: acknowledge them in time, or they come back. `pool_empty` (404) when there are none now."""
    leased = await app.pools.lease(group, kind, n, who, timedelta(seconds=seconds) if seconds else None)
    return _json(_leased(leased, await _options(app, group, kind)))


@router.post("/{group}/{kind}/ack", responses=described(404))
async def ack_items(app: TheApp, key: PoolUser, group: GroupName, kind: KindOf, held: Held) -> Count:
    """Says that leased items are used; counts those that were still the caller's."""
    await app.pools.known.named(group)
    return Count(count=await app.pools.ack(held.token, held.ids))


@router.post("/{group}/{kind}/nack", responses=described(404))
async def nack_items(app: TheApp, key: PoolUser, group: GroupName, kind: KindOf, held: Held) -> Count:
    """Gives leased items back: they are next, or set aside after their last attempt."""
    return Count(count=await app.pools.nack(group, kind, held.token, held.ids))


@router.post("/{group}/{kind}/extend", responses=described(404))
async def extend_leases(app: TheApp, key: PoolUser, group: GroupName, kind: KindOf, held: Extension) -> Count:
    """Makes leases last longer; counts those that were still the caller's."""
    await app.pools.known.named(group)
    return Count(count=await app.pools.extend(held.token, held.ids, timedelta(seconds=held.seconds)))


@router.get("/{group}/{kind}/status", responses=described(404))
async def read_pool_status(app: TheApp, key: PoolUser, group: GroupName, kind: KindOf) -> Status:
    return Status.of(await app.pools.status(group, kind))


@router.get("/{group}/{kind}/items", responses=described(404))
async def list_pool_items(
    app: TheApp, key: PoolUser, group: GroupName, kind: KindOf,
    state: Literal["used", "available", "queued", "leased", "dead"],
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> ItemsShown:  # fmt: skip
    """Items in one state, the last changed first: who has them, since when, how many attempts."""
    rows = await app.pools.items(group, kind, State[state.upper()], limit)
    return ItemsShown(items=[ItemShown(**row) for row in rows])


@router.post("/{group}/{kind}/requeue", responses=described(404))
async def requeue_items(app: TheApp, key: PoolUser, group: GroupName, kind: KindOf, what: Requeue) -> Count:
    """Makes dead or used items available again."""
    return Count(count=await app.pools.requeue(group, kind, State[what.state.upper()], what.ids))


@router.get("/{group}/{kind}/lost", responses=described(404, 409))
async def list_lost_items(
    app: TheApp, key: PoolUser, group: GroupName, kind: KindOf, looking: Annotated[Looking, Query()]
) -> LostItems:
    """What is queued and in no list: a crash took it, or a program used it and never said so. Takes some seconds."""
    return LostItems(items=[Lost(**asdict(item)) for item in await app.pools.lost(group, kind, looking.search())])


@router.post("/{group}/{kind}/lost/release", responses=described(404, 409))
async def release_lost_items(app: TheApp, key: Admin, group: GroupName, kind: KindOf, looking: Looking) -> Count:
    """Makes lost items available again; some may have been used."""
    return Count(count=await app.pools.release_lost(group, kind, looking.search()))


@router.post("/{group}/{kind}/lost/settle", responses=described(404, 409))
async def settle_lost_items(app: TheApp, key: Admin, group: GroupName, kind: KindOf, looking: Looking) -> Count:
    """Marks lost items as used."""
    return Count(count=await app.pools.settle_lost(group, kind, looking.search()))


@router.get("/items/{item_id}", response_model=PoolItem, responses=described(404))
async def read_pool_item(app: TheApp, key: PoolUser, item_id: PathId) -> Response:
    """An item with its whole text as it is now, whatever its state: for those that went by reference."""
    item = await app.pools.read_item(item_id)
    if item is None:
        raise NotFound("there is no such item, or its entry is gone")
    return _json({"id": item.id, "text": item.text})


async def _options(app: App, group: str, kind: Kind) -> PoolOptions:
    return (await app.pools.known.named(group)).options(kind)


def _leased(leased: Leased, options: PoolOptions) -> dict[str, object]:
    pairs = zip(as_queued(leased.items, options), leased.attempts, strict=True)
    items = [msgspec.structs.asdict(item) | {"attempt": attempt} for item, attempt in pairs]
    return {"token": leased.token, "until": to_text(leased.until), "items": items}


def _json(answer: object) -> Response:
    # Not through pydantic: reading a thousand texts again would take longer than all the rest.
    return Response(msgspec.json.encode(answer), media_type="application/json")
