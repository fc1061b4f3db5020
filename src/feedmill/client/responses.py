"""The responses of the API as typed values."""

from datetime import datetime
from typing import Any, Generic, TypeVar

import msgspec

Item = TypeVar("Item")


class ResultPage(msgspec.Struct, Generic[Item], frozen=True):
    """`next` is where the next page begins; None at the end."""

    items: list[Item]
    next: str | None = None


class Me(msgspec.Struct, frozen=True):
    id: int
    name: str
    is_admin: bool
    scopes: list[str]


class SubscribedFeed(msgspec.Struct, frozen=True):
    """A subscription. `id` is what other calls take; the feed itself is shared with others."""

    id: int
    feed_id: int
    url: str
    title: str
    site_url: str | None
    folder_ids: list[int]
    unread_count: int
    entry_count: int
    interval_seconds: int | None
    paused: bool
    state: str
    next_fetch_at: datetime | None
    next_fetch_why: str | None
    last_fetched_at: datetime | None
    last_error: str | None


class AddedSubscription(msgspec.Struct, frozen=True):
    """`status` is `ready` (its entries are there) or `queued`; then `job_id` can be watched."""

    feed: SubscribedFeed
    status: str
    job_id: int | None = None


class CandidateFeed(msgspec.Struct, frozen=True):
    url: str
    title: str
    type: str | None = None
    items: int | None = None
    last_entry_at: datetime | None = None
    language: str | None = None


class Discovery(msgspec.Struct, frozen=True):
    """What was found at an address, and each address that was tried with its answer."""

    url: str
    candidates: list[CandidateFeed]
    tried: list[dict[str, str]]
    problem: dict[str, Any] | None = None


class FeedFolder(msgspec.Struct, frozen=True):
    id: int
    name: str
    parent_id: int | None
    position: int


class RefreshQueued(msgspec.Struct, frozen=True):
    job_id: int
    queued: int
    already_running: int
    skipped: dict[str, int]


class Job(msgspec.Struct, frozen=True):
    """`done` of `total` feeds have ended, with `new` entries; `failed` of them could not be fetched.

    `waiting`: the work queue did not take it, and it begins by itself.
    """

    id: int
    kind: str
    status: str
    total: int
    done: int
    new: int
    failed: int
    report: dict[str, Any] | None = None
    waiting: bool = False


class FeedJobResult(msgspec.Struct, frozen=True):
    """What came of one feed of a job."""

    subscription_id: int | None
    outcome: str
    new: int
    ms: int
    message: str | None = None


class PoppedItem(msgspec.Struct, frozen=True):
    """`text`, or where a text that is too long for a list can be had (`ref`)."""

    id: int
    text: str
    ref: str = ""


class LeasedItem(msgspec.Struct, frozen=True):
    id: int
    text: str
    attempt: int
    ref: str = ""


class ItemLease(msgspec.Struct, frozen=True):
    """Items to be acknowledged with this token until then."""

    token: str
    until: datetime
    items: list[LeasedItem]


class GrantedUser(msgspec.Struct, frozen=True):
    """Who may take from a pool group, by the account's name."""

    user: str
    granted_at: datetime


class LabelRef(msgspec.Struct, frozen=True):
    id: int
    name: str


class Label(msgspec.Struct, frozen=True):
    id: int
    name: str
    entries: int


class Entry(msgspec.Struct, frozen=True):
    """An entry as lists show it, with what the caller did with it."""

    id: int
    subscription_id: int | None
    feed_title: str | None
    title: str
    link: str | None
    author: str | None
    excerpt: str
    published_at: datetime | None
    sort_at: datetime
    unread: bool
    starred: bool
    later: bool
    labels: list[LabelRef]


class EntryDetail(Entry, frozen=True):
    """An entry to be read: `html` is safe to show, `raw_html` is as it came."""

    html: str
    raw_html: str | None
    full_html: str | None
    minutes: int
    categories: list[str]


class MarkAllReadOutcome(msgspec.Struct, frozen=True):
    """How many entries were marked read, and the token that brings them back."""

    marked: int
    undo: str


class SettledCount(msgspec.Struct, frozen=True):
    count: int
