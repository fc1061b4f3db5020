"""Steps that keep new entries from becoming unread: for some subscribers of their feed, or for all.

They follow those that make new entries unread. They count the rows that are there, because a filter may have removed
some of them.
"""

from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, Delete, Update, and_, bindparam, func, select

from feedmill.store.database import Step
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import entries, subscriptions, unread, users

_of_feed = subscriptions.c.feed_id == bindparam("feed_id")
_named = and_(entries.c.feed_id == bindparam("feed_id"), one_of(entries.c.guid, "guids"))
_stands = and_(unread.c.sort_at == entries.c.sort_at, unread.c.entry_id == entries.c.id)


def _uncount(*which: ColumnElement[bool]) -> Update:
    present = (
        select(func.count())
        .select_from(entries.join(unread, _stands).join(users, users.c.unread_list_id == unread.c.list_id))
        .where(users.c.id == subscriptions.c.user_id, _named)
    )
    left = subscriptions.c.unread_count - present.scalar_subquery()
    return subscriptions.update().where(_of_feed, *which).values(unread_count=left)


def _drop(*which: ColumnElement[bool]) -> Delete:
    """By the primary key, because there is no index by entry; `+ 0` keeps SQLite from probing every pair."""
    lists = select(users.c.unread_list_id).join(subscriptions, subscriptions.c.user_id == users.c.id)
    return unread.delete().where(
        unread.c.list_id.in_(lists.where(_of_feed, *which)),
        unread.c.sort_at.in_(select(entries.c.sort_at).where(_named)),
        (unread.c.entry_id + 0).in_(select(entries.c.id).where(_named)),
    )


_of_one = subscriptions.c.id == bindparam("subscription")
UNCOUNT_FOR_ALL, DROP_FOR_ALL = _uncount(), _drop()
UNCOUNT_FOR_ONE, DROP_FOR_ONE = _uncount(_of_one), _drop(_of_one)


def steps_to_drop_unread(feed_id: int, guids: Sequence[str]) -> list[Step]:
    """These entries of the feed are unread for nobody."""
    params = {"feed_id": feed_id, "guids": as_list(list(guids))}
    return [Step(UNCOUNT_FOR_ALL, params), Step(DROP_FOR_ALL, params)] if guids else []


def steps_to_drop_unread_of(feed_id: int, guids_by_subscription: Mapping[int, Sequence[str]]) -> list[Step]:
    """These entries of the feed are not unread for these subscribers."""
    rows = [
        {"feed_id": feed_id, "subscription": id, "guids": as_list(list(guids))}
        for id, guids in sorted(guids_by_subscription.items())
    ]
    return [Step(UNCOUNT_FOR_ONE, rows), Step(DROP_FOR_ONE, rows)] if rows else []
