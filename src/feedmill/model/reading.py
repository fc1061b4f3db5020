"""What a reader may ask for and do: views of entries, marks on them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

MOST_MARKED = 1000
"""How many entries can be marked at once by their ids."""


class View(StrEnum):
    UNREAD = "unread"
    ALL = "all"
    STARRED = "starred"
    LATER = "later"
    HISTORY = "history"


class Order(StrEnum):
    NEWEST = "newest"
    OLDEST = "oldest"


@dataclass(frozen=True, slots=True)
class Scope:
    """Which of a user's entries are meant. No subscriptions named: those of all, and what is kept of former ones."""

    subscription_ids: tuple[int, ...] | None = None
    label_id: int | None = None


EVERYTHING = Scope()


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stands in a list: lists are ordered by time, then by id."""

    at: str
    entry_id: int


@dataclass(frozen=True, slots=True)
class Marks:
    """What to do with entries; None leaves it as it is. `later` says until when, and False ends it."""

    read: bool | None = None
    starred: bool | None = None
    later: datetime | bool | None = None
    add_labels: tuple[int, ...] = ()
    remove_labels: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Sweep:
    """What marking all read takes: from `since` on, older than `before`, and no entry that came after `up_to`."""

    scope: Scope = EVERYTHING
    before: datetime | None = None
    up_to: int | None = None
    since: datetime | None = None

    @property
    def is_whole(self) -> bool:
        return self == Sweep()


@dataclass(frozen=True, slots=True)
class Swept:
    """How many entries were marked read, and the token that brings them back."""

    marked: int
    undo: str
