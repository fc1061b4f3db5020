"""Responses of the current user."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from feedmill.api_schemas.response_body import ResponseBody

Scope = Literal["read", "write", "pools", "fill", "admin"]


class CurrentUser(ResponseBody):
    id: int
    name: str
    is_admin: bool
    scopes: list[Scope] = Field(description="The scopes of this key or session.")
    created_at: datetime
    quota_feeds: int | None = Field(description="The maximum number of subscriptions; null for no limit.")
    two_factor_at: datetime | None = Field(
        None, description="Since when signing in needs two factors; null if it does not."
    )
    csrf_token: str | None = Field(
        description="In a browser session, the header X-CSRF-Token of changing requests; null with an API key."
    )
