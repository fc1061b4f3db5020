"""Finds what changed of a user's entries since a time: marks one by one, the unread list as a whole, purged entries."""

from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, or_, select

from feedmill.model.entry_lists import ListPosition
from feedmill.store.database import Database
from feedmill.store.entries.unread_list_sql import of_user
from feedmill.store.literal_limits import literal_number
from feedmill.store.schema import states, subscriptions, tombstones, unread_lists

MOST_CHANGED = 1000
MOST_PURGED = 10_000


def _is_after(at: ColumnElement[Any], id: ColumnElement[Any]) -> ColumnElement[bool]:
    # The first condition is what an index can be searched by.
    return and_(
        at >= bindparam("at"),
        or_(at > bindparam("at"), id > bindparam("entry_id")),
    )


# One more than a page has, to know whether there is another one.
CHANGED = (
    select(states.c.changed_at.label("at"), states.c.entry_id)
    .where(states.c.user_id == bindparam("of_user"), _is_after(states.c.changed_at, states.c.entry_id))
    .order_by(states.c.changed_at, states.c.entry_id)
    .limit(literal_number(MOST_CHANGED + 1))
)
PURGED = (
    select(tombstones.c.purged_at.label("at"), tombstones.c.entry_id)
    .where(
        tombstones.c.feed_id.in_(select(subscriptions.c.feed_id).where(of_user)),
        tombstones.c.entry_id.is_not(None),
        _is_after(tombstones.c.purged_at, tombstones.c.entry_id),
    )
    .order_by(tombstones.c.purged_at, tombstones.c.entry_id)
    .limit(literal_number(MOST_PURGED + 1))
)
# A list with replaced marks belongs to a change of single entries, which is noted in their states.
REPLACED_LISTS = (
    select(unread_lists.c.id)
    .where(
        unread_lists.c.user_id == bindparam("of_user"),
        unread_lists.c.replaced_marks.is_(None),
        or_(unread_lists.c.created_at >= bindparam("at"), unread_lists.c.retired_at >= bindparam("at")),
    )
    .limit(literal_number(1))
)
SUBSCRIBED = select(subscriptions.c.id, subscriptions.c.created_at).where(of_user).order_by(subscriptions.c.id)


async def changed_entries(db: Database, user_id: int, after: ListPosition) -> list[ListPosition]:
    """Entries whose marks or labels changed after a position, in the order of their changes; one more than a page."""
    return await _positions(db, CHANGED, user_id, after)


async def purged_entries(db: Database, user_id: int, after: ListPosition) -> list[ListPosition]:
    """Entries of the user's feeds that were purged after a position; one more than a page."""
    return await _positions(db, PURGED, user_id, after)


async def is_unread_list_replaced(db: Database, user_id: int, since: str) -> bool:
    """Whether mark-all-read, or its undo, changed the unread list since a time, as long as retired lists are kept."""
    return bool(await db.query(REPLACED_LISTS, {"of_user": user_id, "at": since}))


async def subscription_times(db: Database, user_id: int) -> dict[int, str]:
    """By subscription of the user, when it was made."""
    return {row["id"]: row["created_at"] for row in await db.query(SUBSCRIBED, {"of_user": user_id})}


async def _positions(db: Database, statement: Any, user_id: int, after: ListPosition) -> list[ListPosition]:
    rows = await db.query(statement, {"of_user": user_id, "at": after.at, "entry_id": after.entry_id})
    return [ListPosition(row["at"], row["entry_id"]) for row in rows]
