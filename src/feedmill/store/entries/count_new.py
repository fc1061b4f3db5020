"""Counts the unread entries of a list that arrived after a given entry."""

from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, func, select

from feedmill.model.entry_lists import EntryScope
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.unread_list_sql import UNREAD_LIST_ID
from feedmill.store.schema import unread


@cache
def _count(of_some: bool) -> Select[Any]:
    counted = select(func.count().label("n")).where(
        unread.c.list_id == UNREAD_LIST_ID,
        unread.c.sort_at >= bindparam("since"),
        unread.c.entry_id > bindparam("after"),
    )
    return counted.where(one_of(unread.c.subscription_id, "subscriptions")) if of_some else counted


async def count_new_entries(
    db: Database, user_id: int, scope: EntryScope, after: int, since: datetime | None = None
) -> int:
    """How many unread entries of these subscriptions have a greater id: ids grow in the order of arrival."""
    ids = scope.subscription_ids
    params = {
        "of_user": user_id,
        "since": "" if since is None else to_iso(since),
        "after": after,
        "subscriptions": as_list(list(ids or ())),
    }
    [row] = await db.query(_count(ids is not None), params)
    return int(row["n"])
