"""Responses of the current user."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from feedmill.api_schemas.response_body import ResponseBody

Scope = Literal["read", "write", "pools", "admin"]


class CurrentUser(ResponseBody):
    id: int
    name: str
    is_admin: bool
    scopes: list[Scope] = Field(description="What this key or session may do.")
    created_at: datetime
    quota_feeds: int | None = Field(description="How many feeds you may subscribe to; null for any number.")
    csrf_token: str | None = Field(
        description="In a browser's session, what changes send as the header X-CSRF-Token; null with a key."
    )
