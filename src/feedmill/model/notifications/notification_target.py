"""Targets of notifications (ntfy, Telegram, mail …) and the events that they are notified of."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from feedmill.i18n.messages import Message
from feedmill.model.encrypted import Encrypted

MAX_URL_LENGTH = 2000
MAX_NAME_LENGTH = 100
# The shortest times between two messages that can be chosen, in minutes.
GAPS = (0, 5, 15, 60, 360, 1440)
DEFAULT_GAP = 5


class NotificationEvent(StrEnum):
    """Those of a refresh have the names of the webhook events. `digest` has a time of its own, `test` is requested."""

    MATCHED_ENTRIES = "entries.matched"
    SEARCH_HITS = "search.hits"
    FEED_FAILING = "feed.failing"
    FEED_HEALED = "feed.healed"
    DIGEST = "digest"
    TEST = "test"


class DigestPeriod(StrEnum):
    """How often a target gets a digest of what is new and unread."""

    NONE = "none"
    DAILY = "daily"
    WEEKLY = "weekly"

    @property
    def length(self) -> timedelta:
        return timedelta(days=7 if self is DigestPeriod.WEEKLY else 1)


CHOSEN_EVENTS = tuple(
    event for event in NotificationEvent if event not in (NotificationEvent.DIGEST, NotificationEvent.TEST)
)


@dataclass(frozen=True, slots=True)
class TargetSettings:
    """What the owner chooses. `gap`: between two messages at least so much time passes; the rest is bundled."""

    name: str
    events: tuple[NotificationEvent, ...]
    search_ids: tuple[int, ...] = ()
    gap: timedelta = timedelta(minutes=DEFAULT_GAP)
    paused: bool = False
    digest: DigestPeriod = DigestPeriod.NONE


@dataclass(frozen=True, slots=True)
class NotificationTarget:
    """A target of a user. `scheme` is the beginning of its address, which is secret; `waiting` counts notifications."""

    id: int
    user_id: int
    settings: TargetSettings
    scheme: str
    url: Encrypted
    attempts: int
    next_attempt_at: datetime
    waiting: int
    last_success_at: datetime | None
    last_error: Message | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class NotificationClaim:
    """A target leased by this process: only `token` can settle it."""

    id: int
    user_id: int
    user_settings: str | None
    scheme: str
    url: Encrypted
    gap: timedelta
    attempts: int
    token: str


@dataclass(frozen=True, slots=True)
class SendFailure:
    """Why a message was not sent, and when it is tried again; None for never.

    `is_gone`: the target is no more. `is_counted`: it was an attempt, of which there are only so many.
    """

    reason: Message
    again_at: datetime | None
    is_gone: bool = False
    is_counted: bool = True


@dataclass(frozen=True, slots=True)
class WaitingNotification:
    """Something that a target is notified of; what it says is read when it is sent."""

    id: int
    event: NotificationEvent
    feed_id: int
    refresh_token: str | None
    search_id: int
    entry_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WatchedSearch:
    """A saved search of a user. Entries with an id above `after_entry_id` are new for the target."""

    target_id: int
    search_id: int
    user_id: int
    query: str
    after_entry_id: int
    checked_at: str


@dataclass(frozen=True, slots=True)
class DueDigest:
    """A target whose digest is due since `due_at`."""

    target_id: int
    user_id: int
    user_settings: str | None
    period: DigestPeriod
    due_at: datetime
