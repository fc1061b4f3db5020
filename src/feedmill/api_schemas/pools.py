"""Responses of pools: items that were popped or leased, and who may take them."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from feedmill.api_schemas.response_body import ResponseBody


class PoolItemResponse(ResponseBody):
    id: int
    text: str = Field(description="Empty when there is a `ref`.")
    ref: str = Field(default="", description="The path of a text that is too long to be included.")


class PopResponse(ResponseBody):
    items: list[PoolItemResponse]


class LeasedItemResponse(PoolItemResponse):
    attempt: int = Field(description="The number of times that it was handed out, including this one.")


class LeaseResponse(ResponseBody):
    token: str = Field(description="The token that acknowledges these items.")
    until: datetime
    items: list[LeasedItemResponse]


class ItemCountResponse(ResponseBody):
    count: int = Field(description="The number of items for which this succeeded.")


class AddedTextsResponse(ResponseBody):
    added: int = Field(description="The number of texts that are new.")
    known: int = Field(description="The number of texts whose id was known, or is in the request twice.")


class PoolGrantResponse(ResponseBody):
    user: str = Field(description="The account's name.")
    right: Literal["take", "fill"] = Field(description="To take from the group, or to put texts into it.")
    granted_at: datetime


class PoolGrantPage(ResponseBody):
    items: list[PoolGrantResponse]
    next: None = Field(default=None, description="Always null: there is one page.")
