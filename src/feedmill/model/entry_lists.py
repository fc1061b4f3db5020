"""Entry lists: view, order, scope and position; marks set on entries; mark-all-read."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

MAX_MARKED_AT_ONCE = 1000
"""How many entries can be marked at once by their ids."""


class EntryView(StrEnum):
    UNREAD = "unread"
    ALL = "all"
    STARRED = "starred"
    LATER = "later"
    HISTORY = "history"


class EntryOrder(StrEnum):
    NEWEST = "newest"
    OLDEST = "oldest"


@dataclass(frozen=True, slots=True)
class EntryScope:
    """Which of a user's entries are meant. No subscriptions named: those of all, and what is kept of former ones."""

    subscription_ids: tuple[int, ...] | None = None
    label_id: int | None = None


ALL_ENTRIES = EntryScope()


@dataclass(frozen=True, slots=True)
class ListPosition:
    """Where an entry stands in a list: lists are ordered by time, then by id."""

    at: str
    entry_id: int


@dataclass(frozen=True, slots=True)
class EntryMarks:
    """What to do with entries; None leaves it as it is. `later` says until when, and False ends it."""

    read: bool | None = None
    starred: bool | None = None
    later: datetime | bool | None = None
    add_labels: tuple[int, ...] = ()
    remove_labels: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MarkAllRead:
    """What marking all read takes: from `since` on, older than `before`, and no entry that came after `up_to`."""

    scope: EntryScope = ALL_ENTRIES
    before: datetime | None = None
    up_to: int | None = None
    since: datetime | None = None

    @property
    def is_whole(self) -> bool:
        return self == MarkAllRead()


@dataclass(frozen=True, slots=True)
class MarkAllReadResult:
    """How many entries were marked read, and the token that brings them back."""

    marked: int
    undo: str
