"""Items of pools as JSON."""

from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from feedmill.pools.lost import DEFAULT_SEARCH, Search
from feedmill.pools.tools import MOST_AT_ONCE
from feedmill.serve.rest.fields import Id, Number, Whole
from feedmill.serve.rest.pool_forms import DAY

Token = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[ -~]+$")]
Ids = Annotated[list[Id], Field(min_length=1, max_length=MOST_AT_ONCE)]


class PoolItem(BaseModel):
    id: int
    text: str = Field(description="Empty when there is a `ref`.")
    ref: str = Field(default="", description="Where a text that is too long for here can be had.")


class Popped(BaseModel):
    items: list[PoolItem]


class LeasedItem(PoolItem):
    attempt: int = Field(description="How often it was handed out, with this time.")


class LeasedItems(BaseModel):
    token: str = Field(description="Settles these items and no others.")
    until: datetime
    items: list[LeasedItem]


class Held(BaseModel):
    """Items in the caller's hand."""

    model_config = ConfigDict(extra="forbid")

    token: Token
    ids: Ids


class Extension(Held):
    seconds: Whole = Field(ge=1, le=DAY, description="How long from now.")


class Requeue(BaseModel):
    model_config = ConfigDict(extra="forbid")

    state: Literal["dead", "used"] = "dead"
    ids: Ids | None = Field(default=None, description="Only these; else all of that state.")


class Count(BaseModel):
    count: int = Field(description="How many items that held for.")


class ItemShown(BaseModel):
    id: int
    entry_id: int
    attempts: int
    changed_at: datetime
    taken_by: str | None


class ItemsShown(BaseModel):
    items: list[ItemShown]


class Lost(BaseModel):
    id: int
    entry_id: int
    queued_at: datetime
    queued_by: str | None


class LostItems(BaseModel):
    items: list[Lost]


class Looking(BaseModel):
    """An item is lost when it was queued so long ago and is in no list at two looks."""

    model_config = ConfigDict(extra="forbid")

    older: Number = Field(
        default=int(DEFAULT_SEARCH.youngest.total_seconds()), ge=0, le=365 * DAY, description="Seconds since queued."
    )
    look_again: Number = Field(
        default=int(DEFAULT_SEARCH.look_again.total_seconds()), ge=0, le=20, description="Seconds between the looks."
    )

    def search(self) -> Search:
        return Search(timedelta(seconds=self.older), timedelta(seconds=self.look_again))
