"""The ids of all entries of a view, for programs that compare them with what they have."""

from dataclasses import dataclass
from datetime import datetime

from feedmill.library.entries.new_entries import cursor_of_now
from feedmill.library.entries.sync_cursor import SyncCursor
from feedmill.model.entry_lists import EntryScope, EntryView
from feedmill.store.database import Database
from feedmill.store.entries.fill_deferred_entries import fill_deferred_or_fail
from feedmill.store.entries.sync.list_ids import list_entry_ids


@dataclass(frozen=True, slots=True)
class EntryIds:
    """Ids in ascending order; `next_id` is after which one the next page begins, None on the last page.

    `cursor` is that of a program that knows these entries.
    """

    ids: list[int]
    next_id: int | None
    cursor: SyncCursor


async def entry_ids(
    db: Database, user_id: int, view: EntryView, scope: EntryScope, after_id: int, most: int, now: datetime
) -> EntryIds:
    """Up to `most` ids above `after_id`."""
    # Before the ids, so that what changes meanwhile comes with the changes since the cursor.
    cursor = await cursor_of_now(db, user_id, now)
    # Those that were deferred before the cursor would be in no list of unread ids that goes with it.
    await fill_deferred_or_fail(db, user_id)
    found = await list_entry_ids(db, user_id, view, scope, after_id, most + 1, now)
    return EntryIds(found[:most], found[most - 1] if len(found) > most else None, cursor)
