"""Counts the unread entries of a user by view, and finds users whose counts may have changed.

Numbers that could grow without bound are counted up to a limit, along an index.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, bindparam, func, select

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.unread_list_sql import UNREAD_LIST_ID
from feedmill.store.literal_limits import literal_number
from feedmill.store.schema import entries, entry_labels, labels, states, subscriptions, unread

MOST_COUNTED = 1000
# Of each label only the newest entries are looked at.
NEWEST_LABELLED = 1000


def _count(found: Select[Any]) -> Select[Any]:
    return select(func.count().label("n")).select_from(found.limit(literal_number(MOST_COUNTED)).subquery("found"))


SINCE = _count(select(unread.c.entry_id).where(unread.c.list_id == UNREAD_LIST_ID, unread.c.sort_at >= bindparam("at")))
LATER = _count(
    select(states.c.entry_id).where(
        states.c.user_id == bindparam("of_user"),
        states.c.later_at.is_not(None),
        states.c.later_until > bindparam("now"),
    )
)
_newest = (
    select(entry_labels.c.sort_at, entry_labels.c.entry_id)
    .join(labels, labels.c.id == entry_labels.c.label_id)
    .where(entry_labels.c.label_id == bindparam("label_id"), labels.c.user_id == bindparam("of_user"))
    .order_by(entry_labels.c.sort_at.desc(), entry_labels.c.entry_id.desc())
    .limit(literal_number(NEWEST_LABELLED))
    .subquery("newest")
)
_stands = and_(
    unread.c.list_id == UNREAD_LIST_ID, unread.c.sort_at == _newest.c.sort_at, unread.c.entry_id == _newest.c.entry_id
)
LABELLED = select(func.count().label("n")).select_from(_newest.join(unread, _stands))
NEWEST_ENTRY = select(func.coalesce(func.max(entries.c.id), 0).label("id"))
READERS = (
    select(subscriptions.c.user_id)
    .join(entries, entries.c.feed_id == subscriptions.c.feed_id)
    .where(entries.c.id > bindparam("after"), one_of(subscriptions.c.user_id, "users"))
    .distinct()
)
SUMS = (
    select(subscriptions.c.user_id, func.sum(subscriptions.c.unread_count).label("n"))
    .where(one_of(subscriptions.c.user_id, "users"))
    .group_by(subscriptions.c.user_id)
)


async def count_unread_since(db: Database, user_id: int, since: datetime) -> int:
    """The unread entries of that time and later, at most `MOST_COUNTED`."""
    [row] = await db.query(SINCE, {"of_user": user_id, "at": to_iso(since)})
    return int(row["n"])


async def count_later(db: Database, user_id: int, now: datetime) -> int:
    """The entries that the user keeps for later, at most `MOST_COUNTED`."""
    [row] = await db.query(LATER, {"of_user": user_id, "now": to_iso(now)})
    return int(row["n"])


async def count_unread_with_label(db: Database, user_id: int, label_id: int) -> int:
    """The unread ones among the newest entries with this label."""
    [row] = await db.query(LABELLED, {"of_user": user_id, "label_id": label_id})
    return int(row["n"])


async def newest_entry_id(db: Database) -> int:
    [row] = await db.query(NEWEST_ENTRY)
    return int(row["id"])


async def readers_of_entries_after(db: Database, entry_id: int, user_ids: Collection[int]) -> set[int]:
    """Those of these users who subscribe to the feed of an entry with a greater id."""
    rows = await db.query(READERS, {"after": entry_id, "users": as_list(sorted(user_ids))})
    return {row["user_id"] for row in rows}


async def unread_sums(db: Database, user_ids: Collection[int]) -> dict[int, int]:
    """By user the number of unread entries."""
    rows = await db.query(SUMS, {"users": as_list(sorted(user_ids))})
    return {row["user_id"]: int(row["n"] or 0) for row in rows}
