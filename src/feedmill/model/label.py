"""Labels of a user."""

from msgspec import Struct


class UserLabel(Struct, frozen=True, gc=False):
    """A label with the number of entries that have it."""

    id: int
    name: str
    entries: int


class EntryLabel(Struct, frozen=True, gc=False):
    """A label of an entry."""

    id: int
    name: str
