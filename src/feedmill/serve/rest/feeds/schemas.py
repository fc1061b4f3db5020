"""Schemas of subscribed feeds, HTTP options and discovery."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import structs
from pydantic import BaseModel, Field, StringConstraints

from feedmill.library.feeds.private_feeds import LoginSummary
from feedmill.library.subscriptions.subscribe import DiscoveryResult
from feedmill.model.feed import ArchivePolicy
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.subscription import Subscription, SubscriptionState
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
# As it stands in the row: UTC, to the millisecond.
TimeText = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


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


class FeedResponse(BaseModel):
    """A subscription. `title` is what to show; `own_title` what the person calls it."""

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
    is_private: bool = Field(description="Nobody else can share this feed, because a login may open it.")
    state: SubscriptionState
    next_fetch_at: TimeText | None
    next_fetch_why: str | None
    last_fetched_at: TimeText | None
    last_success_at: TimeText | None
    last_entry_at: TimeText | None
    consecutive_failures: int
    last_error: str | None
    created_at: TimeText
    icon: str | None = Field(description="The picture that is kept of it is at `/icon/` and this (not below `/api`).")

    @classmethod
    def of(cls, subscription: Subscription) -> "FeedResponse":
        return cls(**structs.asdict(subscription))


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
        shown = FeedResponse.of(subscription).model_dump()
        options = HttpOptionsResponse(**asdict(login)) if login else None
        return cls(**shown, http_options=options, settings=FeedSettingsResponse.of(settings))


class FeedPage(BaseModel):
    items: list[FeedResponse]
    next: None = Field(default=None, description="Always null: all subscriptions come at once.")


class SubscribeResponse(BaseModel):
    """`ready`: its entries are there. `queued`: it is fetched soon; `job_id` can be watched."""

    feed: FeedResponse
    status: Literal["ready", "queued"]
    job_id: int | None = None


class DiscoverRequest(RequestBody):
    url: UrlText


class DiscoveredFeedResponse(BaseModel):
    """A feed to choose; what only the feed can tell is null when it was not looked into."""

    url: str
    title: str
    type: str | None
    why: str
    items: int | None
    last_entry_at: datetime | None
    language: str | None


class TriedUrlResponse(BaseModel):
    url: str
    answer: str


class NoFeedResponse(BaseModel):
    """Why there is nothing to choose from. `may_pass`: adding it anyway makes sense."""

    code: str
    detail: str
    may_pass: bool


class DiscoverResponse(BaseModel):
    url: str
    candidates: list[DiscoveredFeedResponse]
    tried: list[TriedUrlResponse]
    problem: NoFeedResponse | None = None

    @classmethod
    def of(cls, found: DiscoveryResult) -> "DiscoverResponse":
        problem = found.problem
        return cls(
            url=found.url,
            candidates=[DiscoveredFeedResponse(**asdict(each)) for each in found.candidates],
            tried=[TriedUrlResponse(**asdict(each)) for each in found.tried],
            problem=NoFeedResponse(code=problem.code, detail=str(problem), may_pass=problem.may_pass)
            if problem
            else None,
        )
