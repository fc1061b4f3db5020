"""Schemas of items that a consumer holds: acknowledge, give back, extend, requeue, and their states."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from feedmill.pools.pool import MAX_ITEMS_AT_ONCE
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.field_types import Id, StrictInt
from feedmill.serve.rest.pools.group_schemas import DAY_SECONDS

LeaseTokenText = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[ -~]+$")]
PoolItemIds = Annotated[list[Id], Field(min_length=1, max_length=MAX_ITEMS_AT_ONCE)]


class HeldItemsRequest(RequestBody):
    """Items that the caller has leased."""

    token: LeaseTokenText
    ids: PoolItemIds


class ExtendLeaseRequest(HeldItemsRequest):
    seconds: StrictInt = Field(ge=1, le=DAY_SECONDS, description="The new length, from now on.")


class RequeueRequest(RequestBody):
    state: Literal["dead", "used"] = "dead"
    ids: PoolItemIds | None = Field(default=None, description="Only these; by default all in that state.")


class PoolItemStateResponse(BaseModel):
    id: int
    entry_id: int | None = Field(description="The entry; null for a text of another program.")
    external_id: str | None = Field(description="The sender's id of such a text.")
    attempts: int
    changed_at: datetime
    taken_by: str | None


class PoolItemStatesResponse(BaseModel):
    items: list[PoolItemStateResponse]
