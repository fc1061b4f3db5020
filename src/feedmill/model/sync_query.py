"""Which entries a synchronizing program requests."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from feedmill.model.entry_lists import ALL_ENTRIES, EntryScope

LAST_ID = 2**53 - 1


class SyncOrder(StrEnum):
    """Ids grow with the time at which an entry was stored; the date is when it was published."""

    ID = "id"
    DATE = "date"
    TITLE = "title"
    AUTHOR = "author"


@dataclass(frozen=True, slots=True)
class SyncQuery:
    """Which entries; None for either state means both. Ids are between `after_id` and `before_id`, without these.

    `seen_since` and `seen_until` are limits of the time at which an entry was first seen, `dated_since` and
    `dated_until` of its date, all included. `among` are ids: only these. `tags` are labels of the user or categories of
    the feed, in any case of letters: an entry has them all.
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
    dated_since: datetime | None = None
    dated_until: datetime | None = None
    among: tuple[int, ...] | None = None
    tags: tuple[str, ...] = ()
    order: SyncOrder = SyncOrder.ID
    offset: int = 0
