"""A feed as one row of `feeds`, its current state in one word, and the claim on it."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal

from msgspec import Struct

from feedmill.i18n.messages import Message
from feedmill.model.encrypted import Encrypted

# Ends the URL of a private feed; the part after # is never sent to a server.
PRIVATE_URL_MARKER = "#user="
# After this many failures in a row the status is `error`.
ERROR_AFTER = 10


class FeedStatus(StrEnum):
    """`error` after ten failures in a row, until a success; only a person or a 410 sets `disabled`."""

    ACTIVE = "active"
    ERROR = "error"
    DISABLED = "disabled"


class ArchivePolicy(StrEnum):
    ALL = "all"
    STARRED = "starred"
    NONE = "none"


def without_owner(text: str) -> str:
    """A URL, or a title that is one, without the owner of a private feed."""
    return text.partition(PRIVATE_URL_MARKER)[0]


def is_readable_by(feed_url: str, user_id: int) -> bool:
    """Whether the feed at this URL is shared, or this user's own private one."""
    _, marker, owner = feed_url.partition(PRIVATE_URL_MARKER)
    return not marker or owner == str(user_id)


class Feed(Struct, frozen=True):
    """One row of `feeds`. `next_fetch_at` is None for a feed that is never due by itself.

    `has_entry_settings`: a subscriber has rules, labels or other settings for its new entries. `hub_url` is its WebSub
    hub and `topic_url` its name there; `pushed_until`: the hub pushes what is new until then.
    """

    id: int
    url: str
    created_at: datetime
    title: str | None = None
    own_title: str | None = None
    folder: tuple[str, ...] = ()
    site_url: str | None = None
    status: FeedStatus = FeedStatus.ACTIVE
    archive_policy: ArchivePolicy = ArchivePolicy.ALL
    http_options: Encrypted | None = None
    has_entry_settings: bool = False
    added_by_person: bool = False
    declared: bool = False
    etag: str | None = None
    last_modified: str | None = None
    body_sha256: str | None = None
    descriptor_sha256: str | None = None
    next_fetch_at: datetime | None = None
    next_fetch_why: Message | None = None
    interval: timedelta | None = None
    usual_gap: timedelta | None = None
    polling_hints: str | None = None
    last_fetched_at: datetime | None = None
    last_success_at: datetime | None = None
    last_entry_at: datetime | None = None
    consecutive_failures: int = 0
    truncated_count: int = 0
    last_error: Message | None = None
    last_error_kind: str | None = None
    gone_since: datetime | None = None
    moved_to: str | None = None
    moved_count: int = 0
    merged_into: int | None = None
    certificate_until: datetime | None = None
    hub_url: str | None = None
    topic_url: str | None = None
    pushed_until: datetime | None = None
    entry_count: int = 0
    claimed_until: datetime | None = None

    @property
    def is_private(self) -> bool:
        """Whether only one user may read it: it may have been fetched with that user's password."""
        return PRIVATE_URL_MARKER in self.url

    @property
    def has_moved_away(self) -> bool:
        """Whether its subscribers were moved to another feed; its entries stay here."""
        return self.merged_into is not None

    @property
    def name(self) -> str:
        """The title to show: the operator's, else the feed's own, else the URL."""
        return self.own_title or self.title or self.url


class Claim(Struct, frozen=True):
    """The right to refresh one feed, until the lease ends or another process takes over the claim."""

    feed: Feed
    token: str


FeedState = Literal["running", "disabled", "error", "failing", "resting", "new", "due", "ok"]


def feed_state(feed: Feed, now: datetime) -> FeedState:
    """The most important state of a feed; several may hold, see `IS_IN_STATE`."""
    words: tuple[FeedState, ...] = ("running", "disabled", "error", "failing", "resting", "new", "due")
    return next((word for word in words if IS_IN_STATE[word](feed, now)), "ok")


def _is_running(feed: Feed, now: datetime) -> bool:
    return feed.claimed_until is not None and feed.claimed_until > now


def _is_due(feed: Feed, now: datetime) -> bool:
    return feed.next_fetch_at is not None and feed.next_fetch_at <= now and not _is_running(feed, now)


IS_IN_STATE: Mapping[str, Callable[[Feed, datetime], bool]] = {
    "running": _is_running,
    "due": _is_due,
    "disabled": lambda feed, now: feed.status is FeedStatus.DISABLED,
    "error": lambda feed, now: feed.status is FeedStatus.ERROR,
    "failing": lambda feed, now: feed.consecutive_failures > 0 and feed.status is not FeedStatus.DISABLED,
    "resting": lambda feed, now: feed.next_fetch_at is None and feed.status is not FeedStatus.DISABLED,
    "new": lambda feed, now: feed.last_fetched_at is None,
}
