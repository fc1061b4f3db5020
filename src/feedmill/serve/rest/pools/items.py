"""`/api/pools/{group}/{titles|contents}`: pop, lease, ack, nack, requeue, and lost items."""

from dataclasses import asdict, replace
from datetime import timedelta
from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Path, Query, Response

from feedmill.api_schemas.pools import ItemCountResponse, LeaseResponse, PoolItemResponse, PopResponse
from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.model.pool import PoolItemState, PoolKind, PoolLease, PoolOptions
from feedmill.model.timestamps import to_iso
from feedmill.model.user import ADMIN
from feedmill.pools.claim_tokens import token_holder
from feedmill.pools.item_texts import to_queued_items
from feedmill.pools.pool import MAX_ITEMS_AT_ONCE
from feedmill.serve.rest.core.dependencies import Admin, PoolUser, TheApp
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import PathId
from feedmill.serve.rest.pools.group_schemas import DAY_SECONDS, PoolStatusResponse
from feedmill.serve.rest.pools.groups import GrantedGroup, GroupParameter
from feedmill.serve.rest.pools.held_item_schemas import (
    ExtendLeaseRequest,
    HeldItemsRequest,
    PoolItemStateResponse,
    PoolItemStatesResponse,
    RequeueRequest,
)
from feedmill.serve.rest.pools.lost_item_schemas import (
    LostItemResponse,
    LostItemSearchQuery,
    LostItemSearchRequest,
    LostItemsResponse,
)

router = APIRouter(prefix="/pools", tags=["pools"])

KindParameter = Annotated[PoolKind, Path(description="Which pool of the group.")]
CountParameter = Annotated[int, Query(ge=1, le=MAX_ITEMS_AT_ONCE, description="The maximum number of items.")]
TakerParameter = Annotated[
    str, Query(max_length=90, pattern=r"^[ -~]*$", description="The name of the consumer, for the record.")
]


@router.post("/{group}/{kind}/pop", response_model=PopResponse, responses=problem_responses(404, 409))
async def pop_items(
    app: TheApp, group: GrantedGroup, kind: KindParameter, n: CountParameter = 1, who: TakerParameter = ""
) -> Response:
    """Takes items, each of which is handed out only once. `pool_empty` (404) if there are none now."""
    items = await app.pools.pop(group.id, kind, n, who)
    return _json({"items": to_queued_items(items, group.options(kind))})


@router.post("/{group}/{kind}/lease", response_model=LeaseResponse, responses=problem_responses(404, 409))
async def lease_items(
    app: TheApp,
    group: GrantedGroup,
    kind: KindParameter,
    n: CountParameter = 1,
    who: TakerParameter = "",
    seconds: Annotated[
        int | None, Query(ge=1, le=DAY_SECONDS, description="The length of the lease; the default is the pool's.")
    ] = None,
) -> Response:
    """Leases items: acknowledge them in time, or they come back. `pool_empty` (404) if there are none now."""
    leased = await app.pools.lease(group.id, kind, n, who, timedelta(seconds=seconds) if seconds else None)
    return _json(_leased(leased, group.options(kind)))


@router.post("/{group}/{kind}/ack", responses=problem_responses(404))
async def ack_items(app: TheApp, group: GrantedGroup, kind: KindParameter, held: HeldItemsRequest) -> ItemCountResponse:
    """Marks leased items as used; `count` is the number of those that were still leased."""
    return ItemCountResponse(count=await app.pools.ack(group.id, kind, held.token, held.ids))


@router.post("/{group}/{kind}/nack", responses=problem_responses(404))
async def nack_items(
    app: TheApp, group: GrantedGroup, kind: KindParameter, held: HeldItemsRequest
) -> ItemCountResponse:
    """Returns leased items: they are handed out next, or dead after their last attempt."""
    return ItemCountResponse(count=await app.pools.nack(group.id, kind, held.token, held.ids))


@router.post("/{group}/{kind}/extend", responses=problem_responses(404))
async def extend_leases(
    app: TheApp, group: GrantedGroup, kind: KindParameter, held: ExtendLeaseRequest
) -> ItemCountResponse:
    """Extends leases; `count` is the number of those that were still leased."""
    length = timedelta(seconds=held.seconds)
    return ItemCountResponse(count=await app.pools.extend(group.id, kind, held.token, held.ids, length))


@router.get("/{group}/{kind}/status", responses=problem_responses(404))
async def read_pool_status(app: TheApp, who: PoolUser, group: GrantedGroup, kind: KindParameter) -> PoolStatusResponse:
    """How many items are in which state. Why the source table can't be read is for admins."""
    status = await app.pools.status(group.id, kind)
    return PoolStatusResponse.of(status if ADMIN in who.scopes else replace(status, source_problem=None))


@router.get("/{group}/{kind}/items", responses=problem_responses(404))
async def list_pool_items(
    app: TheApp,
    group: GrantedGroup,
    kind: KindParameter,
    state: Literal["used", "available", "queued", "leased", "dead", "held"],
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> PoolItemStatesResponse:
    """Items in one state, the last changed first: their holder, since when, and the number of attempts."""
    found = await app.pools.items(group.id, kind, PoolItemState[state.upper()], limit)
    return PoolItemStatesResponse(
        items=[PoolItemStateResponse(**asdict(item) | {"taken_by": token_holder(item.taken_by)}) for item in found]
    )


@router.post("/{group}/{kind}/requeue", responses=problem_responses(404))
async def requeue_items(
    app: TheApp, key: Admin, group: GroupParameter, kind: KindParameter, what: RequeueRequest
) -> ItemCountResponse:
    """Makes dead or used items available again. Used ones are then handed out a second time."""
    return ItemCountResponse(count=await app.pools.requeue(group, kind, PoolItemState[what.state.upper()], what.ids))


@router.get("/{group}/{kind}/lost", responses=problem_responses(404, 409))
async def list_lost_items(
    app: TheApp, group: GrantedGroup, kind: KindParameter, looking: Annotated[LostItemSearchQuery, Query()]
) -> LostItemsResponse:
    """Items that are held back, or queued and in no list: after a crash or an unreported use. Takes some seconds."""
    found = await app.pools.lost(group.id, kind, looking.search())
    return LostItemsResponse(
        items=[LostItemResponse(**asdict(item) | {"queued_by": token_holder(item.queued_by)}) for item in found]
    )


@router.post("/{group}/{kind}/lost/release", responses=problem_responses(404, 409))
async def release_lost_items(
    app: TheApp, key: Admin, group: GroupParameter, kind: KindParameter, looking: LostItemSearchRequest
) -> ItemCountResponse:
    """Makes lost items available again; some may have been used."""
    return ItemCountResponse(count=await app.pools.release_lost(group, kind, looking.search()))


@router.post("/{group}/{kind}/lost/settle", responses=problem_responses(404, 409))
async def settle_lost_items(
    app: TheApp, key: Admin, group: GroupParameter, kind: KindParameter, looking: LostItemSearchRequest
) -> ItemCountResponse:
    """Marks lost items as used."""
    return ItemCountResponse(count=await app.pools.settle_lost(group, kind, looking.search()))


@router.get("/items/{item_id}", response_model=PoolItemResponse, responses=problem_responses(404))
async def read_pool_item(app: TheApp, key: PoolUser, item_id: PathId) -> Response:
    """An item with its complete current text, in any state: for items that were handed out as a reference."""
    item = await app.pools.item_for(key, item_id)
    if item is None:
        raise NotFound(Message("error.no_such_pool_item"))
    return _json({"id": item.id, "text": item.text})


def _leased(leased: PoolLease, options: PoolOptions) -> dict[str, object]:
    pairs = zip(to_queued_items(leased.items, options), leased.attempts, strict=True)
    items = [msgspec.structs.asdict(item) | {"attempt": attempt} for item, attempt in pairs]
    return {"token": leased.token, "until": to_iso(leased.until), "items": items}


def _json(body: object) -> Response:
    # Not through pydantic: validating a thousand texts would take longer than everything else.
    return Response(msgspec.json.encode(body), media_type="application/json")
