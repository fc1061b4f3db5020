"""The same article in the user's other feeds."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from feedmill.model.stories.story_copy import StoryCopy
from feedmill.store.database import Database
from feedmill.store.stories.read_copies import find_copies

StoryCopies = Mapping[int, Sequence[StoryCopy]]
"""By entry, the other entries of its story that are in feeds of the user."""


class IdentifiedEntry(Protocol):
    @property
    def id(self) -> int: ...


Entry = TypeVar("Entry", bound=IdentifiedEntry)


async def copies_of_entries(db: Database, user_id: int, ids: Sequence[int]) -> StoryCopies:
    """Entries that the user reads in one feed only are left out."""
    return await find_copies(db, user_id, ids)


def first_of_stories(entries: Iterable[Entry], copies: StoryCopies) -> list[Entry]:
    """The entries without those of stories that came before."""
    kept, left_out = list[Entry](), set[int]()
    for entry in entries:
        if entry.id not in left_out:
            kept.append(entry)
            left_out.update(copy.id for copy in copies.get(entry.id, ()))
    return kept
