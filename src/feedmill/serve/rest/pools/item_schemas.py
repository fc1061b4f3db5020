"""Schemas of pool items: popped, leased, lost."""

from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from feedmill.pools.lost_items import DEFAULT_LOST_ITEM_SEARCH, LostItemSearch
from feedmill.pools.pool import MAX_ITEMS_AT_ONCE
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.field_types import Id, StrictInt
from feedmill.serve.rest.pools.group_schemas import DAY_SECONDS

LeaseTokenText = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[ -~]+$")]
PoolItemIds = Annotated[list[Id], Field(min_length=1, max_length=MAX_ITEMS_AT_ONCE)]


class HeldItemsRequest(RequestBody):
    """Items in the caller's hand."""

    token: LeaseTokenText
    ids: PoolItemIds


class ExtendLeaseRequest(HeldItemsRequest):
    seconds: StrictInt = Field(ge=1, le=DAY_SECONDS, description="The new length, from now on.")


class RequeueRequest(RequestBody):
    state: Literal["dead", "used"] = "dead"
    ids: PoolItemIds | None = Field(default=None, description="Only these; by default all in that state.")


class PoolItemStateResponse(BaseModel):
    id: int
    entry_id: int
    attempts: int
    changed_at: datetime
    taken_by: str | None


class PoolItemStatesResponse(BaseModel):
    items: list[PoolItemStateResponse]


class LostItemResponse(BaseModel):
    id: int
    entry_id: int
    queued_at: datetime
    queued_by: str | None


class LostItemsResponse(BaseModel):
    items: list[LostItemResponse]


class LostItemSearchRequest(RequestBody):
    """An item is lost when it was queued so long ago and is in no list at two looks."""

    older: int = Field(
        default=int(DEFAULT_LOST_ITEM_SEARCH.min_age.total_seconds()),
        ge=0,
        le=365 * DAY_SECONDS,
        description="Seconds since queued.",
    )
    look_again: int = Field(
        default=int(DEFAULT_LOST_ITEM_SEARCH.look_again.total_seconds()),
        ge=0,
        le=20,
        description="Seconds between the two checks.",
    )

    def search(self) -> LostItemSearch:
        return LostItemSearch(timedelta(seconds=self.older), timedelta(seconds=self.look_again))


class LostItemSearchQuery(LostItemSearchRequest):
    """The same in a query, where a number is written as text."""

    model_config = ConfigDict(strict=False)
