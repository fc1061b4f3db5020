"""Schemas of the search for lost pool items."""

from datetime import datetime, timedelta

from pydantic import BaseModel, ConfigDict, Field

from feedmill.pools.lost_items import DEFAULT_LOST_ITEM_SEARCH, LostItemSearch
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.pools.group_schemas import DAY_SECONDS


class LostItemResponse(BaseModel):
    id: int
    entry_id: int | None
    external_id: str | None
    queued_at: datetime = Field(description="Since when it is queued or held back.")
    queued_by: str | None
    is_held: bool = Field(description="Held back; otherwise queued and in no list.")


class LostItemsResponse(BaseModel):
    items: list[LostItemResponse]


class LostItemSearchRequest(RequestBody):
    """An item is lost if it was queued at least `older` seconds ago and is in no list in two checks."""

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
    """The same as query parameters, where numbers are text."""

    model_config = ConfigDict(strict=False)
