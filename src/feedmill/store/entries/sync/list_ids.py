"""Lists the ids of all entries of a view, in the order in which they were stored, for programs that keep a copy."""

from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, exists, select

from feedmill.model.entry_lists import EntryScope, EntryView
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.list_pages import is_marked
from feedmill.store.entries.unread_list_sql import UNREAD_LIST_ID, of_user
from feedmill.store.entries.visibility import is_visible, visible_entry_ids
from feedmill.store.literal_limits import literal_number
from feedmill.store.schema import entries, entry_labels, states, subscriptions, unread

SIZES = (1001, 10_001, 100_001)


async def list_entry_ids(
    db: Database, user_id: int, view: EntryView, scope: EntryScope, after_id: int, most: int, now: datetime
) -> list[int]:
    """Up to `most` ids above `after_id`, ascending."""
    size = next((size for size in SIZES if size >= most), most)
    statement = _ids(view, scope.subscription_ids is not None, scope.label_id is not None, size)
    params = {
        "of_user": user_id,
        "after_id": after_id,
        "subscriptions": as_list(list(scope.subscription_ids or ())),
        "label_id": scope.label_id,
        "now": to_iso(now),
    }
    return [row["id"] for row in (await db.query(statement, params))[:most]]


@cache
def _ids(view: EntryView, of_some: bool, labelled: bool, size: int) -> Select[Any]:
    found, id = _of_view(view)
    found = found.where(id > bindparam("after_id"))
    if of_some:
        chosen = (of_user, one_of(subscriptions.c.id, "subscriptions"))
        of_feed = entries.c.feed_id.in_(select(subscriptions.c.feed_id).where(*chosen))
        found = found.where(id.in_(select(entries.c.id).where(of_feed)))
    if labelled:
        has_label = entry_labels.c.label_id == bindparam("label_id")
        found = found.where(id.in_(select(entry_labels.c.entry_id).where(has_label)))
    return found.order_by(id).limit(literal_number(size))


def _of_view(view: EntryView) -> tuple[Select[Any], ColumnElement[int]]:
    """The entries of a view that the user may see, and the column with their ids."""
    if view is EntryView.UNREAD:
        id = unread.c.entry_id
        return select(id.label("id")).where(unread.c.list_id == UNREAD_LIST_ID), id
    if view is EntryView.ALL:
        visible = visible_entry_ids(bindparam("of_user")).subquery("visible")
        return select(visible.c.id), visible.c.id
    id = states.c.entry_id
    found = select(id.label("id")).where(is_marked(view))
    if view is EntryView.HISTORY:
        # What was only read is no longer visible once its feed is unsubscribed from.
        found = found.where(exists().where(entries.c.id == id, is_visible(bindparam("of_user"))))
    return found, id
