"""Entry lists: view, order, scope and position."""

from dataclasses import dataclass
from enum import StrEnum


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
