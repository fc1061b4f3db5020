"""What changed of a user's entries since the cursor of a program: marks, labels, and which entries are gone."""

from dataclasses import dataclass, replace
from datetime import datetime

from feedmill.library.entries.list_entries import EntrySummary, entry_summaries
from feedmill.library.entries.sync_cursor import OVERLAP, PURGE_OVERLAP, SyncCursor
from feedmill.model.entry_lists import ListPosition
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database
from feedmill.store.entries.sync.changed_marks import (
    MOST_CHANGED,
    MOST_PURGED,
    changed_entries,
    is_unread_list_replaced,
    purged_entries,
    subscription_times,
)
from feedmill.store.entries.undo_mark_all_read import UNDO_FOR


@dataclass(frozen=True, slots=True)
class ChangedEntries:
    """A page of changes, and the cursor with which to go on: at once if there are `more`.

    `items` are entries as they are now. `gone` are ids of entries that the user no longer sees, but for those of
    subscriptions that are not in `subscription_ids`. `unread_changed`: many entries were marked, or unmarked, at once;
    the list of unread ids says which.
    """

    items: list[EntrySummary]
    gone: list[int]
    subscription_ids: list[int]
    unread_changed: bool
    cursor: SyncCursor
    more: bool


async def changes_since(db: Database, user_id: int, cursor: SyncCursor, now: datetime) -> ChangedEntries:
    """What changed since the cursor; of what changed a moment ago some comes twice."""
    unread_changed = await _is_unread_changed(db, user_id, cursor, now)
    subscribed = await subscription_times(db, user_id)
    changed = await changed_entries(db, user_id, cursor.changed)
    purged = await purged_entries(db, user_id, cursor.purged)
    ids = [place.entry_id for place in changed[:MOST_CHANGED]]
    items = await entry_summaries(db, user_id, ids)
    unseen = set(ids).difference(item.id for item in items)
    return ChangedEntries(
        items=items,
        gone=sorted(unseen.union(place.entry_id for place in purged[:MOST_PURGED])),
        subscription_ids=list(subscribed),
        unread_changed=unread_changed,
        cursor=replace(
            cursor,
            changed=_end(changed, MOST_CHANGED, to_iso(now - OVERLAP)),
            purged=_end(purged, MOST_PURGED, to_iso(now - PURGE_OVERLAP)),
        ),
        more=len(changed) > MOST_CHANGED or len(purged) > MOST_PURGED,
    )


async def _is_unread_changed(db: Database, user_id: int, cursor: SyncCursor, now: datetime) -> bool:
    # Retired lists, which show it, are kept a little longer than mark-all-read can be undone.
    is_old = cursor.changed.at < to_iso(now - UNDO_FOR)
    return is_old or await is_unread_list_replaced(db, user_id, cursor.changed.at)


def _end(found: list[ListPosition], most: int, since: str) -> ListPosition:
    """Where the next page begins: after this one, or, if it is the last, where changes may still be written."""
    return found[most - 1] if len(found) > most else ListPosition(since, 0)
