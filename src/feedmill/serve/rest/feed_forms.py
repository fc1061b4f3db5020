"""What is sent and shown of subscriptions."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import structs
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from feedmill.library.privacy import Login
from feedmill.library.subscribe import Discovery
from feedmill.model.feed import ArchivePolicy
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.subscription import State, Subscription
from feedmill.outbound.options import FetchOptions
from feedmill.serve.rest.fields import Address, Flag, Id, Whole
from feedmill.serve.rest.setting_forms import SettingsForm, SettingsShown

Title = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")
]
FolderPath = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=1000, pattern=r"^[^\x00-\x1f\x7f]*$"),
    Field(description="Like `Tech/Python`; made if it is not there."),
]
HeaderText = Annotated[str, StringConstraints(max_length=4000, pattern=r"^[\x20-\x7e]*$")]
HeaderName = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")]
Interval = Annotated[Whole, Field(ge=60, le=604_800, description="Seconds between two fetches; null is automatic.")]
# As it stands in the row: UTC, to the millisecond.
MomentText = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


class LoginForm(BaseModel):
    name: HeaderText
    password: HeaderText


class HttpOptionsForm(BaseModel):
    """How this feed is asked for. Whoever sends any of these gets a feed of their own, shared with nobody."""

    model_config = ConfigDict(extra="forbid")

    login: LoginForm | None = None
    cookie: HeaderText | None = None
    headers: dict[HeaderName, HeaderText] = Field(default_factory=dict, max_length=20)
    proxy: Address | None = None
    user_agent: HeaderText | None = None
    verify_tls: Flag = True

    def kept(self) -> str | None:
        """As the feed's row keeps it; None when it says nothing."""
        login = (self.login.name, self.login.password) if self.login else None
        options = FetchOptions(
            login, dict(self.headers), self.cookie, self.proxy, self.user_agent, verify_tls=self.verify_tls
        )
        return None if options == FetchOptions() else msgspec.json.encode(options).decode()


class FeedWish(BaseModel):
    """The address of a feed, or of a page that has one."""

    url: Address
    title: Title | None = None
    folder_ids: list[Id] = Field(default=[], max_length=50)
    folder: FolderPath | None = None
    interval_seconds: Interval | None = None
    archive_policy: ArchivePolicy | None = None
    http_options: HttpOptionsForm | None = None
    settings: SettingsForm | None = None
    anyway: Flag = Field(default=False, description="Subscribe although nothing can be had there now.")


class FeedChanges(BaseModel):
    """What is left out stays as it is; null takes back what was chosen."""

    title: Title | None = None
    folder_ids: list[Id] | None = Field(default=None, max_length=50)
    interval_seconds: Interval | None = None
    archive_policy: ArchivePolicy | None = None
    http_options: HttpOptionsForm | None = None
    settings: SettingsForm | None = Field(default=None, description="Of these, too, only what is given changes.")
    paused: Flag | None = None


class FeedShown(BaseModel):
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
    state: State
    next_fetch_at: MomentText | None
    next_fetch_why: str | None
    last_fetched_at: MomentText | None
    last_success_at: MomentText | None
    last_entry_at: MomentText | None
    consecutive_failures: int
    last_error: str | None
    created_at: MomentText
    icon: str | None = Field(description="The picture that is kept of it is at `/icon/` and this (not below `/api`).")

    @classmethod
    def of(cls, subscription: Subscription) -> "FeedShown":
        return cls(**structs.asdict(subscription))


class LoginShown(BaseModel):
    """What is shown of how a feed is asked for: never what opens it."""

    name: str | None
    user_agent: str | None
    has_cookie: bool
    has_proxy: bool
    header_names: list[str]
    verify_tls: bool


class FeedDetail(FeedShown):
    http_options: LoginShown | None = None
    settings: SettingsShown

    @classmethod
    def whole(cls, subscription: Subscription, settings: FeedSettings, login: Login | None) -> "FeedDetail":
        shown = FeedShown.of(subscription).model_dump()
        options = LoginShown(**asdict(login)) if login else None
        return cls(**shown, http_options=options, settings=SettingsShown.of(settings))


class FeedPage(BaseModel):
    items: list[FeedShown]
    next: None = Field(default=None, description="Always null: all subscriptions come at once.")


class FeedAdded(BaseModel):
    """`ready`: its entries are there. `queued`: it is fetched soon; `job_id` can be watched."""

    feed: FeedShown
    status: Literal["ready", "queued"]
    job_id: int | None = None


class PageAddress(BaseModel):
    url: Address


class CandidateShown(BaseModel):
    """A feed to choose; what only the feed can tell is null when it was not looked into."""

    url: str
    title: str
    type: str | None
    why: str
    items: int | None
    last_entry_at: datetime | None
    language: str | None


class TriedShown(BaseModel):
    url: str
    answer: str


class NoFeedShown(BaseModel):
    """Why there is nothing to choose from. `may_pass`: adding it anyway makes sense."""

    code: str
    detail: str
    may_pass: bool


class DiscoveryShown(BaseModel):
    url: str
    candidates: list[CandidateShown]
    tried: list[TriedShown]
    problem: NoFeedShown | None = None

    @classmethod
    def of(cls, found: Discovery) -> "DiscoveryShown":
        problem = found.problem
        return cls(
            url=found.url,
            candidates=[CandidateShown(**asdict(each)) for each in found.candidates],
            tried=[TriedShown(**asdict(each)) for each in found.tried],
            problem=NoFeedShown(code=problem.code, detail=str(problem), may_pass=problem.may_pass) if problem else None,
        )
