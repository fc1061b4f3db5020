"""The outcome of one refresh: decided first, then written in one batch."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, get_args

from feedmill.i18n.messages import Message
from feedmill.model.parsed_feed import Enclosure
from feedmill.model.raw_body import INCOMPLETE
from feedmill.model.stories.signature import SignedPlace

FailureKind = Literal[
    "dns",
    "connect",
    "tls",
    "timeout",
    "reset",
    "protocol",
    "truncated",
    "decoding",
    "partial",
    "http_5xx",
    "http_4xx",
    "throttled",
    "gone",
    "refused",
    "blocked",
    "too_large",
    "not_a_feed",
    "not_stored",
]


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a feed is due next, and the reason. Without a time it is never due by itself."""

    at: datetime | None
    why: Message


@dataclass(frozen=True, slots=True)
class KnownEntry:
    """A stored entry, with what is needed to tell whether the feed changed it."""

    id: int
    digest: str
    in_feed: bool
    revision_count: int = 0


@dataclass(frozen=True, slots=True)
class GoneEntry:
    """A stored entry that is no longer in its feed under its guid; `date` is None if the feed gave none.

    `files` are the URLs of its enclosures. `in_feed`: it was in the last response; otherwise it left the feed earlier.
    """

    id: int
    guid: str
    digest: str
    title: str | None
    link: str | None
    date: datetime | None
    files: tuple[str, ...] = ()
    in_feed: bool = True
    revision_count: int = 0

    @property
    def known(self) -> KnownEntry:
        return KnownEntry(self.id, self.digest, self.in_feed, self.revision_count)


@dataclass(frozen=True, slots=True)
class ChangedGuid:
    """A stored entry whose feed gives it another guid now."""

    entry_id: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry as it is stored for the first time. Its text is never changed afterwards.

    `undated`: the feed gives no date that can be read, and `published_at` is when the entry was found.
    """

    guid: str
    digest: str
    sort_at: datetime
    published_at: datetime
    updated_at: datetime | None
    link: str | None
    title: str | None
    author: str | None
    summary: str | None
    content_html: str | None
    base_url: str | None
    language: str | None
    image_url: str | None
    comments_url: str | None
    categories: tuple[str, ...]
    enclosures: tuple[Enclosure, ...]
    images: tuple[str, ...]
    undated: bool = False

    @property
    def date(self) -> datetime:
        """Its date, or when it was found if it has none or one in the future."""
        return self.published_at if self.undated else self.sort_at


@dataclass(frozen=True, slots=True)
class Revision:
    """A new text of a stored entry, stored beside the first."""

    entry_id: int
    number: int
    digest: str
    link: str | None
    title: str | None
    author: str | None
    summary: str | None
    content_html: str | None


class IndexedWords(NamedTuple):
    """The words of an entry that search finds it by: separated by spaces, without case, accents and punctuation.

    `text` has those of the content, or of the summary of an entry that has no content. `more` has those of a summary
    beside the content, and of the link.
    """

    title: str
    author: str
    text: str
    more: str

    @property
    def fields(self) -> dict[str, str]:
        """The words by the field of the search index."""
        return {"title": self.title, "author": self.author, "words": f"{self.text} {self.more}".strip()}


@dataclass(frozen=True, slots=True)
class EntryDiff:
    """The difference between a feed and its stored entries.

    `returned` were missing from the feed and are in it again, `dropped` are no longer in it. `changed_guids` are in it
    under another guid. `overflows` is set when the feed shares no entry with the previous response, so that we may have
    missed some. By guid of new entries, `words` caches their indexed words, which filters, stories and the index all
    need, and `places` the stories that they join, which filters and stories need.
    """

    new: tuple[NewEntry, ...] = ()
    revised: tuple[Revision, ...] = ()
    returned: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    changed_guids: tuple[ChangedGuid, ...] = ()
    overflows: bool = False
    words: dict[str, IndexedWords] = field(default_factory=dict, compare=False, repr=False)
    places: dict[str, SignedPlace] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RawBody:
    """A raw body that was put into the object store."""

    key: str
    sha256: str
    size: int
    headers: str
    http_status: int
    fetched_at: datetime


@dataclass(frozen=True, slots=True)
class FeedMetadata:
    """Title and other metadata of a feed; None leaves the stored value."""

    title: str | None = None
    site_url: str | None = None
    description: str | None = None
    language: str | None = None
    icon_url: str | None = None
    image_url: str | None = None
    hub_url: str | None = None
    topic_url: str | None = None


@dataclass(frozen=True, slots=True)
class FeedMove:
    """Where permanent redirects point, for how many fetches in a row, and whether that is enough to follow.

    `settled` changes the feed's URL. `needs_target`: the target feed must exist first, and is added or made due.
    `merges_with` is that feed, once it is up to date: the subscribers are moved to it.
    """

    to: str | None = None
    times: int = 0
    settled: bool = False
    needs_target: bool = False
    merges_with: int | None = None


@dataclass(frozen=True, slots=True)
class FetchStats:
    """Facts of one fetch, for its log line and the feed's times."""

    at: datetime
    elapsed: timedelta
    http_status: int | None = None
    bytes: int = 0
    certificate_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Updated:
    """A new body, parsed. `truncated`: it is incomplete, and only its complete entries are used.

    `is_push`: a hub pushed it, and it may lack entries that are in the feed. `pushed_until`: a hub pushes what is new
    until then; None if nothing shows that it does. `defers_unread`: the feed has so many subscribers that the unread
    rows of each are added when they read.
    """

    stats: FetchStats
    schedule: Schedule
    changes: EntryDiff
    metadata: FeedMetadata
    raw: RawBody | None
    entry_count: int
    etag: str | None
    last_modified: str | None
    body_sha256: str
    last_entry_at: datetime | None
    usual_gap: timedelta | None
    polling_hints: str | None
    move: FeedMove
    truncated: bool = False
    is_push: bool = False
    pushed_until: datetime | None = None
    defers_unread: bool = False


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A 304, or the same bytes again: a success. `pushed_until` as in `Updated`."""

    stats: FetchStats
    schedule: Schedule
    etag: str | None
    last_modified: str | None
    move: FeedMove
    pushed_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A failure of the feed.

    `counted` is False when our own network was down, and when a person tried a failing feed again before its time.
    """

    stats: FetchStats
    schedule: Schedule
    kind: FailureKind
    message: Message
    counted: bool = True
    disables: bool = False
    gone_since: datetime | None = None
    raw: RawBody | None = None
    body_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Postponed:
    """No request was sent: the host slot is too far away."""

    schedule: Schedule


RefreshDecision = Updated | Unchanged | Failed | Postponed


# The outcomes in the fetch log that are no failures.
SUCCESSFUL_OUTCOMES = ("updated", "pushed", "not_modified", "same")
FETCH_OUTCOMES: tuple[str, ...] = (*SUCCESSFUL_OUTCOMES, INCOMPLETE, *get_args(FailureKind))
# Failures with a status of their own among those of kind `http_4xx`.
FAILURES_BY_STATUS = {
    401: "login_needed",
    403: "forbidden",
    404: "not_found",
    451: "unavailable_for_legal_reasons",
}


@dataclass(frozen=True, slots=True)
class FetchLogLine:
    """A line of a feed's fetch log."""

    at: datetime
    outcome: str
    http_status: int | None
    bytes: int
    ms: int
    new_entries: int
    revised_entries: int
    message: Message | None

    @property
    def failed(self) -> bool:
        return self.outcome not in SUCCESSFUL_OUTCOMES

    @property
    def failure_name(self) -> str:
        """The outcome, more precise if the HTTP status is: `not_found` for 404."""
        by_status = FAILURES_BY_STATUS if self.outcome == "http_4xx" else {}
        return by_status.get(self.http_status or 0, self.outcome)
