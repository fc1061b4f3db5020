"""Which entries a program that synchronizes asks for."""

from dataclasses import dataclass
from datetime import datetime

from feedmill.model.entry_lists import ALL_ENTRIES, EntryScope

LAST_ID = 2**53 - 1


@dataclass(frozen=True, slots=True)
class SyncQuery:
    """Which entries; None for either state means both. Ids are between `after_id` and `before_id`, without these.

    `seen_since` and `seen_until` are limits of the time at which an entry was first seen, both included.
    """

    scope: EntryScope = ALL_ENTRIES
    unread: bool | None = None
    starred: bool | None = None
    after_id: int = 0
    before_id: int = LAST_ID
    oldest_first: bool = False
    most: int = 1000
    seen_since: datetime | None = None
    seen_until: datetime | None = None
