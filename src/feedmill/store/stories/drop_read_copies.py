"""Steps that keep new entries from becoming unread: for some subscribers of their feed, or for all.

They follow those that make new entries unread. They count the rows that are there, because a filter may have removed
some of them.
"""

from collections.abc import Mapping, Sequence

from sqlalchemy import Column, and_, bindparam, func, select

from feedmill.store.columns import Id, exact_text
from feedmill.store.database import Step
from feedmill.store.dialect import as_list, one_of
from feedmill.store.filters.apply_filters import DROP_UNREAD
from feedmill.store.json_rows import as_rows, json_rows
from feedmill.store.schema import deferred_entries, entries, subscriptions, unread, users

_of_feed = subscriptions.c.feed_id == bindparam("feed")
_named = and_(entries.c.feed_id == bindparam("feed"), one_of(entries.c.guid, "guids"))
_stands = and_(unread.c.sort_at == entries.c.sort_at, unread.c.entry_id == entries.c.id)
_present = (
    select(func.count())
    .select_from(entries.join(unread, _stands).join(users, users.c.unread_list_id == unread.c.list_id))
    .where(users.c.id == subscriptions.c.user_id, _named)
)
UNCOUNT_FOR_ALL = (
    subscriptions.update()
    .where(_of_feed)
    .values(unread_count=subscriptions.c.unread_count - _present.scalar_subquery())
)
_lists = select(users.c.unread_list_id).join(subscriptions, subscriptions.c.user_id == users.c.id).where(_of_feed)
# By the primary key, because there is no index by entry; `+ 0` keeps SQLite from probing every pair.
DROP_FOR_ALL = unread.delete().where(
    unread.c.list_id.in_(_lists),
    unread.c.sort_at.in_(select(entries.c.sort_at).where(_named)),
    (unread.c.entry_id + 0).in_(select(entries.c.id).where(_named)),
)

# Of a popular feed: what was deferred is added for nobody. Some subscribers have their rows already.
DROP_DEFERRED = deferred_entries.delete().where(
    deferred_entries.c.feed_id == bindparam("feed"), deferred_entries.c.entry_id.in_(select(entries.c.id).where(_named))
)
_first = select(func.min(entries.c.id)).where(_named).scalar_subquery()
_was_filled = subscriptions.c.filled_to >= _first
UNCOUNT_FOR_FILLED = UNCOUNT_FOR_ALL.where(_was_filled)
DROP_FOR_FILLED = unread.delete().where(
    unread.c.list_id.in_(_lists.where(_was_filled)),
    unread.c.sort_at.in_(select(entries.c.sort_at).where(_named)),
    (unread.c.entry_id + 0).in_(select(entries.c.id).where(_named)),
)

_blocked = json_rows("blocked", Column("of_subscription", Id), Column("guid", exact_text(512)))
_reader = subscriptions.alias("reader")
_leaving = (
    select(_blocked.c.of_subscription, func.count().label("n"))
    .select_from(_blocked.join(_reader, _reader.c.id == _blocked.c.of_subscription))
    .join(users, users.c.id == _reader.c.user_id)
    .join(entries, and_(entries.c.feed_id == bindparam("feed"), entries.c.guid == _blocked.c.guid))
    .join(unread, and_(unread.c.list_id == users.c.unread_list_id, _stands))
    .group_by(_blocked.c.of_subscription)
    .subquery("leaving")
)
UNCOUNT = (
    subscriptions.update()
    .where(subscriptions.c.id == _leaving.c.of_subscription, _of_feed)
    .values(unread_count=subscriptions.c.unread_count - _leaving.c.n)
)


def steps_to_drop_unread(feed_id: int, guids: Sequence[str]) -> list[Step]:
    """These entries of the feed are unread for nobody."""
    params = {"feed": feed_id, "guids": as_list(list(guids))}
    return [Step(UNCOUNT_FOR_ALL, params), Step(DROP_FOR_ALL, params)] if guids else []


def steps_to_drop_deferred(feed_id: int, guids: Sequence[str]) -> list[Step]:
    """As `steps_to_drop_unread`, for entries whose unread rows were deferred."""
    params = {"feed": feed_id, "guids": as_list(list(guids))}
    statements = (DROP_DEFERRED, UNCOUNT_FOR_FILLED, DROP_FOR_FILLED)
    return [Step(statement, params) for statement in statements] if guids else []


def steps_to_drop_unread_of(feed_id: int, guids_by_subscription: Mapping[int, Sequence[str]]) -> list[Step]:
    """These entries of the feed are not unread for these subscribers, however many there are."""
    rows = [(id, guid) for id, guids in sorted(guids_by_subscription.items()) for guid in guids]
    return [
        Step(statement, {"feed": feed_id, "blocked": some})
        for some in as_rows(rows)
        for statement in (UNCOUNT, DROP_UNREAD)
    ]
