"""Responses of subscribed feeds, subscribing, discovery and refreshes."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from feedmill.api_schemas.response_body import MessageText, ResponseBody, StoredTime
from feedmill.model.feed import ArchivePolicy
from feedmill.model.subscription import SubscriptionState


class FeedResponse(ResponseBody):
    """A subscription. `title` is what to show; `own_title` is the title that the user chose."""

    id: int = Field(description="The subscription's id.")
    feed_id: int
    url: str
    title: str
    own_title: str | None
    feed_title: str | None
    site_url: str | None
    icon_url: str | None
    folder_ids: list[int]
    unread_count: int
    entry_count: int
    interval_seconds: int | None
    archive_policy: ArchivePolicy | None
    paused: bool
    same_story_once: bool = Field(description="Whether articles that other feeds have too are shown once.")
    is_private: bool = Field(description="Whether the feed is private, because it is fetched with a login.")
    state: SubscriptionState
    next_fetch_at: StoredTime | None
    next_fetch_why: MessageText | None
    last_fetched_at: StoredTime | None
    last_success_at: StoredTime | None
    last_entry_at: StoredTime | None
    consecutive_failures: int
    last_error: MessageText | None
    created_at: StoredTime
    icon: str | None = Field(description="Its stored icon is at `/icon/` followed by this (not below `/api`).")


class FeedPage(ResponseBody):
    items: list[FeedResponse]
    next: None = Field(default=None, description="Always null: all subscriptions are on one page.")


class SubscribeResponse(ResponseBody):
    """`ready`: its entries are stored. `queued`: it will be fetched soon, by the job `job_id`."""

    feed: FeedResponse
    status: Literal["ready", "queued"]
    job_id: int | None = None


class DiscoveredFeedResponse(ResponseBody):
    """A feed to choose from. `items`, `last_entry_at` and `language` are null if it was not fetched."""

    url: str
    title: str
    type: str | None
    why: str
    items: int | None
    last_entry_at: datetime | None
    language: str | None


class TriedUrlResponse(ResponseBody):
    url: str
    answer: MessageText


class NoFeedResponse(ResponseBody):
    """Why no feed was found. `may_pass`: the problem may be temporary, so the feed can be added anyway."""

    code: str
    detail: str
    may_pass: bool


class DiscoverResponse(ResponseBody):
    url: str
    candidates: list[DiscoveredFeedResponse]
    tried: list[TriedUrlResponse]
    problem: NoFeedResponse | None = None


class FetchResponse(ResponseBody):
    """A fetch of a feed.

    `outcome`: `updated`, `pushed` (by a WebSub hub), `not_modified`, `same` (the same bytes again) or the kind of
    failure.
    """

    at: datetime
    outcome: str
    http_status: int | None = Field(description="null if there was no response.")
    bytes: int = Field(description="The size of the body as it was sent, often compressed.")
    ms: int
    new_entries: int
    revised_entries: int
    message: MessageText | None = Field(description="Why it failed, or what is wrong with the feed.")


class FetchPage(ResponseBody):
    items: list[FetchResponse]
    next: str | None = Field(description="The `cursor` of the next page; none on the last.")


class SkippedFeedsResponse(ResponseBody):
    paused: int
    too_soon: int


class RefreshResponse(ResponseBody):
    """A job that can be watched at `/api/jobs/{job_id}/events`.

    `status` is `queued` if any feed is fetched by it, `already_running` if another job fetches them, and `skipped` if
    none is fetched.
    """

    status: Literal["queued", "already_running", "skipped"]
    job_id: int
    queued: int
    already_running: int
    skipped: SkippedFeedsResponse
