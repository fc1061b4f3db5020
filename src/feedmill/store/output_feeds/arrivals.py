"""Finds the entries of a user's feeds that arrived last, for output feeds.

Ids grow with the time at which an entry was stored. Of few entries all ids are read, along the index of their feeds.
Of many, the ids of all entries are walked from the latest on, until the page is full; the entries of some feeds may
be so rare among the latest ones that the walk is ended and all their ids are read after all.
"""

from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, func, select

from feedmill.model.entry_lists import EntryScope
from feedmill.model.sync_query import SyncQuery
from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.sync.sync_ids import LAST, find_sync_ids
from feedmill.store.entries.unread_list_sql import of_user
from feedmill.store.literal_limits import literal_number
from feedmill.store.schema import entries, feeds, subscriptions

# Up to so many entries all ids are read.
FEW_ENTRIES = 20_000
LONGEST_WALK = 200_000

_chosen = one_of(subscriptions.c.id, "subscriptions")


def _count(*conditions: ColumnElement[bool]) -> Select[Any]:
    return (
        select(func.coalesce(func.sum(feeds.c.entry_count), 0).label("n"))
        .select_from(subscriptions.join(feeds, feeds.c.id == subscriptions.c.feed_id))
        .where(of_user, *conditions)
    )


def _sort(*conditions: ColumnElement[bool]) -> Select[Any]:
    found = (
        select(entries.c.id)
        .select_from(subscriptions.join(entries, entries.c.feed_id == subscriptions.c.feed_id))
        .where(of_user, entries.c.id < bindparam("before_id"), *conditions)
    )
    # The offset keeps the database from walking all entries by id: the ids are found before they are ordered.
    fenced = found.offset(literal_number(0)).subquery("fenced")
    return select(fenced.c.id).order_by(fenced.c.id.desc()).limit(bindparam("most"))


COUNT_ALL, COUNT_SOME = _count(), _count(_chosen)
SORT_ALL, SORT_SOME = _sort(), _sort(_chosen)


async def newest_arrivals(db: Database, user_id: int, scope: EntryScope, before_id: int, most: int) -> list[int]:
    """The ids of up to `most` entries of the user's feeds below `before_id`, the latest first."""
    params = {
        "of_user": user_id,
        "subscriptions": as_list(list(scope.subscription_ids or ())),
        "before_id": before_id,
        "most": most,
    }
    is_all = scope.subscription_ids is None
    [count] = await db.query(COUNT_ALL if is_all else COUNT_SOME, params)
    if int(count["n"]) > FEW_ENTRIES:
        [last] = await db.query(LAST)
        start = max(min(before_id, int(last["id"])) - LONGEST_WALK, 0)
        walk = SyncQuery(scope=scope, before_id=before_id, after_id=start, most=most)
        found = await find_sync_ids(db, user_id, walk)
        if len(found) == most or not start:
            return found
    return [row["id"] for row in await db.query(SORT_ALL if is_all else SORT_SOME, params)]
