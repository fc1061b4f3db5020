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

    def is_beyond(self, other: "ListPosition", order: EntryOrder) -> bool:
        """Whether a list in this order has this position after the other one."""
        here, there = (self.at, self.entry_id), (other.at, other.entry_id)
        return here < there if order is EntryOrder.NEWEST else here > there


@dataclass(frozen=True, slots=True)
class RaisedRange:
    """The entries that a list showed first: those up to a position that filters had raised by a time.

    None of them has a lower id than `lowest_id`.
    """

    last: ListPosition
    lowest_id: int
    until: str


@dataclass(frozen=True, slots=True)
class ListCursor:
    """Where a page of a list ended, and what the list showed first, if it did."""

    position: ListPosition
    raised: RaisedRange | None = None
