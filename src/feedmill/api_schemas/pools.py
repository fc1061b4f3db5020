"""Responses of pools: items that were popped or leased, and who may take them."""

from datetime import datetime

from pydantic import Field

from feedmill.api_schemas.response_body import ResponseBody


class PoolItemResponse(ResponseBody):
    id: int
    text: str = Field(description="Empty when there is a `ref`.")
    ref: str = Field(default="", description="Where a text that is too long for here can be had.")


class PopResponse(ResponseBody):
    items: list[PoolItemResponse]


class LeasedItemResponse(PoolItemResponse):
    attempt: int = Field(description="How often it was handed out, with this time.")


class LeaseResponse(ResponseBody):
    token: str = Field(description="Settles these items and no others.")
    until: datetime
    items: list[LeasedItemResponse]


class ItemCountResponse(ResponseBody):
    count: int = Field(description="How many items that held for.")


class PoolGrantResponse(ResponseBody):
    user: str = Field(description="The account's name.")
    granted_at: datetime


class PoolGrantPage(ResponseBody):
    items: list[PoolGrantResponse]
    next: None = Field(default=None, description="There is one page only.")
