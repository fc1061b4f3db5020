"""Counts the unread entries of a list that arrived after a given entry."""

from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, func, select

from feedmill.model.entry_lists import EntryScope, EntryView
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.unread_list_sql import UNREAD_LIST_ID
from feedmill.store.schema import unread
from feedmill.store.stories.copies import is_copy


@cache
def _count(of_some: bool, stories_once: bool) -> Select[Any]:
    counted = select(func.count().label("n")).where(
        unread.c.list_id == UNREAD_LIST_ID,
        unread.c.sort_at >= bindparam("oldest"),
        unread.c.entry_id > bindparam("after"),
    )
    if stories_once:
        of_one = False if of_some else None
        counted = counted.where(~is_copy(unread.c.entry_id, unread.c.subscription_id, EntryView.UNREAD, of_one))
    return counted.where(one_of(unread.c.subscription_id, "subscriptions")) if of_some else counted


async def count_new_entries(
    db: Database,
    user_id: int,
    scope: EntryScope,
    after: int,
    since: datetime | None = None,
    *,
    stories_once: bool = False,
) -> int:
    """How many unread entries of these subscriptions have a greater id: ids grow in the order of arrival.

    `stories_once`: without those of stories that the list shows already.
    """
    ids = scope.subscription_ids
    params = {
        "of_user": user_id,
        "oldest": "" if since is None else to_iso(since),
        "after": after,
        "subscriptions": as_list(list(ids or ())),
    }
    [row] = await db.query(_count(ids is not None, stories_once), params)
    return int(row["n"])
