"""Marks of entries: read, starred, read later and labels; mark-all-read."""

from dataclasses import dataclass
from datetime import datetime

from msgspec import Struct

from feedmill.model.entry_lists import ALL_ENTRIES, EntryOrder, EntryScope, EntryView, ListPosition

MAX_MARKED_AT_ONCE = 1000
"""The most entries that can be marked at once by their ids."""


@dataclass(frozen=True, slots=True)
class EntryMarks:
    """Marks to set on entries; None leaves a mark unchanged. `later` may be the time until which it holds.

    `whole_stories`: what is marked read is read in the user's other feeds too.
    """

    read: bool | None = None
    starred: bool | None = None
    later: datetime | bool | None = None
    add_labels: tuple[int, ...] = ()
    remove_labels: tuple[int, ...] = ()
    whole_stories: bool = False


@dataclass(frozen=True, slots=True)
class ListSide:
    """What comes after a position of a list in that order; in the reverse order it is what comes before it."""

    view: EntryView
    order: EntryOrder
    beyond: ListPosition


@dataclass(frozen=True, slots=True)
class MarkAllRead:
    """The entries of mark-all-read: from `since` on, older than `before`, with ids up to `up_to`, on one side.

    `whole_stories`: what is marked is read in the user's other feeds too.
    """

    scope: EntryScope = ALL_ENTRIES
    before: datetime | None = None
    up_to: int | None = None
    since: datetime | None = None
    side: ListSide | None = None
    whole_stories: bool = False

    @property
    def is_whole(self) -> bool:
        return self == MarkAllRead(whole_stories=self.whole_stories)


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
