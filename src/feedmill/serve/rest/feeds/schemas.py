"""Schemas of requests about feeds, and of their HTTP options; `api_schemas/feeds.py` has what the client reads."""

from dataclasses import asdict
from typing import Annotated

import msgspec
from msgspec import structs
from pydantic import BaseModel, Field, StringConstraints

from feedmill.api_schemas.feeds import (
    DiscoveredFeedResponse,
    DiscoverResponse,
    FeedResponse,
    NoFeedResponse,
    TriedUrlResponse,
)
from feedmill.library.feeds.private_feeds import LoginSummary
from feedmill.library.subscriptions.subscribe import DiscoveryResult
from feedmill.model.feed import ArchivePolicy
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.subscription import Subscription
from feedmill.outbound.fetch_options import FetchOptions
from feedmill.serve.rest.core.fields import Id, RequestBody, StrictBool, StrictInt, UrlText
from feedmill.serve.rest.feeds.settings_schemas import FeedSettingsChanges, FeedSettingsResponse

FeedTitle = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")
]
FolderPath = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=1000, pattern=r"^[^\x00-\x1f\x7f]*$"),
    Field(description="Like `Tech/Python`; made if it is not there."),
]
HeaderText = Annotated[str, StringConstraints(max_length=4000, pattern=r"^[\x20-\x7e]*$")]
HeaderName = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")]
Interval = Annotated[StrictInt, Field(ge=60, le=604_800, description="Seconds between two fetches; null is automatic.")]
ArchivePolicyField = Annotated[ArchivePolicy, Field(strict=False)]


class HttpLoginRequest(RequestBody):
    name: HeaderText
    password: HeaderText


class HttpOptionsRequest(RequestBody):
    """How this feed is asked for. Whoever sends any of these gets a feed of their own, shared with nobody."""

    login: HttpLoginRequest | None = None
    cookie: HeaderText | None = None
    headers: dict[HeaderName, HeaderText] = Field(default_factory=dict, max_length=20)
    proxy: UrlText | None = None
    user_agent: HeaderText | None = None
    verify_tls: StrictBool = True

    def kept(self) -> str | None:
        """As the feed's row keeps it; None when it says nothing."""
        login = (self.login.name, self.login.password) if self.login else None
        options = FetchOptions(
            login, dict(self.headers), self.cookie, self.proxy, self.user_agent, verify_tls=self.verify_tls
        )
        return None if options == FetchOptions() else msgspec.json.encode(options).decode()


class NewFeedRequest(RequestBody):
    """The address of a feed, or of a page that has one."""

    url: UrlText
    title: FeedTitle | None = None
    folder_ids: list[Id] = Field(default=[], max_length=50)
    folder: FolderPath | None = None
    interval_seconds: Interval | None = None
    archive_policy: ArchivePolicyField | None = None
    http_options: HttpOptionsRequest | None = None
    settings: FeedSettingsChanges | None = None
    anyway: StrictBool = Field(default=False, description="Subscribe although nothing can be had there now.")


class FeedChanges(RequestBody):
    """What is left out stays as it is; null takes back what was chosen."""

    title: FeedTitle | None = None
    folder_ids: list[Id] | None = Field(default=None, max_length=50)
    interval_seconds: Interval | None = None
    archive_policy: ArchivePolicyField | None = None
    http_options: HttpOptionsRequest | None = None
    settings: FeedSettingsChanges | None = Field(default=None, description="Of these, too, only what is given changes.")
    paused: StrictBool | None = None


def to_feed_response(subscription: Subscription) -> FeedResponse:
    return FeedResponse(**structs.asdict(subscription))


class HttpOptionsResponse(BaseModel):
    """What is shown of how a feed is asked for: never what opens it."""

    name: str | None
    user_agent: str | None
    has_cookie: bool
    has_proxy: bool
    header_names: list[str]
    verify_tls: bool


class FeedDetailResponse(FeedResponse):
    http_options: HttpOptionsResponse | None = None
    settings: FeedSettingsResponse

    @classmethod
    def whole(
        cls, subscription: Subscription, settings: FeedSettings, login: LoginSummary | None
    ) -> "FeedDetailResponse":
        options = HttpOptionsResponse(**asdict(login)) if login else None
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
