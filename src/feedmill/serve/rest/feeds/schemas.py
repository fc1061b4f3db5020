"""Schemas of requests about feeds, and of their HTTP options; `api_schemas/feeds.py` has what the client reads."""

from dataclasses import asdict
from typing import Annotated

from msgspec import structs
from pydantic import Field, StringConstraints

from feedmill.api_schemas.feeds import (
    DiscoveredFeedResponse,
    DiscoverResponse,
    FeedResponse,
    NoFeedResponse,
    TriedUrlResponse,
)
from feedmill.library.subscriptions.http_options import HttpOptionsSummary
from feedmill.library.subscriptions.subscribe import DiscoveryResult
from feedmill.model.feed import ArchivePolicy
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.subscription import Subscription
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.field_types import Id, StrictBool, StrictInt, UrlText
from feedmill.serve.rest.feeds.http_schemas import HttpOptionsRequest, HttpOptionsResponse
from feedmill.serve.rest.feeds.settings_schemas import FeedSettingsChanges, FeedSettingsResponse

FeedTitle = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")
]
FolderPath = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=1000, pattern=r"^[^\x00-\x1f\x7f]*$"),
    Field(description="Such as `Tech/Python`; created if it does not exist."),
]
Interval = Annotated[StrictInt, Field(ge=60, le=604_800, description="Seconds between two fetches; null is automatic.")]
ArchivePolicyField = Annotated[ArchivePolicy, Field(strict=False)]


class NewFeedRequest(RequestBody):
    """A new subscription; `url` is that of a feed, or of a page that has one."""

    url: UrlText
    title: FeedTitle | None = None
    folder_ids: list[Id] = Field(default=[], max_length=50)
    folder: FolderPath | None = None
    interval_seconds: Interval | None = None
    archive_policy: ArchivePolicyField | None = None
    http_options: HttpOptionsRequest | None = None
    settings: FeedSettingsChanges | None = None
    anyway: StrictBool = Field(default=False, description="Subscribe although the feed can't be fetched now.")


class FeedChanges(RequestBody):
    """Fields that are left out are not changed; null resets a field to its default."""

    title: FeedTitle | None = None
    folder_ids: list[Id] | None = Field(default=None, max_length=50)
    interval_seconds: Interval | None = None
    archive_policy: ArchivePolicyField | None = None
    http_options: HttpOptionsRequest | None = None
    settings: FeedSettingsChanges | None = Field(default=None, description="Only the given settings change.")
    paused: StrictBool | None = None
    same_story_once: StrictBool | None = Field(
        default=None, description="Whether articles that other feeds have too are shown once, and read once."
    )


def to_feed_response(subscription: Subscription) -> FeedResponse:
    return FeedResponse(**structs.asdict(subscription))


class FeedDetailResponse(FeedResponse):
    http_options: HttpOptionsResponse | None = None
    settings: FeedSettingsResponse

    @classmethod
    def whole(
        cls, subscription: Subscription, settings: FeedSettings, http_options: HttpOptionsSummary | None
    ) -> "FeedDetailResponse":
        options = HttpOptionsResponse.of(http_options) if http_options else None
        return cls(**structs.asdict(subscription), http_options=options, settings=FeedSettingsResponse.of(settings))


class DiscoverRequest(RequestBody):
    url: UrlText


def to_discover_response(found: DiscoveryResult) -> DiscoverResponse:
    problem = found.problem
    return DiscoverResponse(
        url=found.url,
        candidates=[DiscoveredFeedResponse(**asdict(each)) for each in found.candidates],
        tried=[TriedUrlResponse(**asdict(each)) for each in found.tried],
        problem=NoFeedResponse(code=problem.code, detail=str(problem), may_pass=problem.may_pass) if problem else None,
    )
