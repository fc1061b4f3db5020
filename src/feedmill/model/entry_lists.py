"""Entry lists: view, order, scope and position; marks set on entries; labels; mark-all-read."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from msgspec import Struct

MAX_MARKED_AT_ONCE = 1000
"""The most entries that can be marked at once by their ids."""


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
    """Selects entries of a user. Without subscriptions: those of all, and entries kept from former subscriptions."""

    subscription_ids: tuple[int, ...] | None = None
    label_id: int | None = None


ALL_ENTRIES = EntryScope()


@dataclass(frozen=True, slots=True)
class ListPosition:
    """The position of an entry in a list; lists are ordered by time, then by id."""

    at: str
    entry_id: int


@dataclass(frozen=True, slots=True)
class EntryMarks:
    """Marks to set on entries; None leaves a mark unchanged. `later` may be the time until which it holds."""

    read: bool | None = None
    starred: bool | None = None
    later: datetime | bool | None = None
    add_labels: tuple[int, ...] = ()
    remove_labels: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MarkAllRead:
    """The entries of mark-all-read: from `since` on, older than `before`, with ids up to `up_to`."""

    scope: EntryScope = ALL_ENTRIES
    before: datetime | None = None
    up_to: int | None = None
    since: datetime | None = None

    @property
    def is_whole(self) -> bool:
        return self == MarkAllRead()


@dataclass(frozen=True, slots=True)
class MarkAllReadResult:
    """How many entries were marked read, and the token that undoes it."""

    marked: int
    undo: str


class UserLabel(Struct, frozen=True, gc=False):
    """A label with the number of entries that have it."""

    id: int
    name: str
    entries: int


class EntryLabel(Struct, frozen=True, gc=False):
    """A label of an entry."""

    id: int
    name: str
