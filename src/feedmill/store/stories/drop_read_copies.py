"""Keeps new entries from becoming unread whose story a user has read, or whose feed had them before.

The steps follow those that make new entries unread. They count the rows that are there, because a filter may have
removed some of them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Delete,
    FromClause,
    Select,
    and_,
    bindparam,
    case,
    exists,
    func,
    or_,
    select,
)

from feedmill.model.filters.entry_filter import FilterAction
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import entries, filter_effects, states, subscriptions, unread, unread_lists, users
from feedmill.store.stories.story_switches import takes_part

_its_feed, _new_feed = subscriptions.alias("its_feed"), subscriptions.alias("new_feed")
_in_current, _in_retired = unread.alias("in_current"), unread.alias("in_retired")


def _holds(rows: FromClause) -> ColumnElement[bool]:
    """Whether a row of unread lists is that of the entry."""
    return and_(rows.c.sort_at == entries.c.sort_at, rows.c.entry_id == entries.c.id)


_is_unread = exists().where(_in_current.c.list_id == users.c.unread_list_id, _holds(_in_current))
_by_filter = exists().where(
    filter_effects.c.user_id == users.c.id,
    filter_effects.c.action == FilterAction.READ,
    filter_effects.c.entry_id == entries.c.id,
)
# By the user's own act: marked one by one, or with all others, as retired lists tell until they are deleted.
_was_read = or_(
    and_(
        exists().where(
            states.c.user_id == users.c.id, states.c.entry_id == entries.c.id, states.c.read_at.is_not(None)
        ),
        ~_by_filter,
    ),
    exists().where(
        unread_lists.c.user_id == users.c.id,
        unread_lists.c.retired_at.is_not(None),
        _in_retired.c.list_id == unread_lists.c.id,
        _holds(_in_retired),
    ),
)
READING = (
    select(
        entries.c.id,
        _new_feed.c.id.label("subscription_id"),
        users.c.settings,
        case((_is_unread, 1), else_=0).label("is_unread"),
    )
    .select_from(
        entries.join(_its_feed, and_(_its_feed.c.feed_id == entries.c.feed_id, takes_part(_its_feed)))
        .join(users, users.c.id == _its_feed.c.user_id)
        .join(_new_feed, and_(_new_feed.c.user_id == users.c.id, _new_feed.c.feed_id == bindparam("feed_id")))
    )
    .where(one_of(entries.c.id, "ids"), _new_feed.c.paused == 0, takes_part(_new_feed), or_(_is_unread, _was_read))
)

_of_feed = subscriptions.c.feed_id == bindparam("feed_id")
_named = (entries.c.feed_id == bindparam("feed_id"), one_of(entries.c.guid, "guids"))


def _present(*which: ColumnElement[bool]) -> Select[Any]:
    """How many of the named entries are unread for the user of `subscriptions`."""
    return (
        select(func.count())
        .select_from(entries.join(unread, _holds(unread)).join(users, users.c.unread_list_id == unread.c.list_id))
        .where(users.c.id == subscriptions.c.user_id, *which)
    )


def _uncount(*which: ColumnElement[bool]) -> Any:
    left = subscriptions.c.unread_count - _present(*_named).scalar_subquery()
    return (
        subscriptions.update().where(subscriptions.c.feed_id == bindparam("feed_id"), *which).values(unread_count=left)
    )


def _drop(*which: ColumnElement[bool]) -> Delete:
    """By the primary key, because there is no index by entry; `+ 0` keeps SQLite from probing every pair."""
    lists = select(users.c.unread_list_id).join(subscriptions, subscriptions.c.user_id == users.c.id)
    return unread.delete().where(
        unread.c.list_id.in_(lists.where(_of_feed, *which)),
        unread.c.sort_at.in_(select(entries.c.sort_at).where(*_named)),
        (unread.c.entry_id + 0).in_(select(entries.c.id).where(*_named)),
    )


_of_one = subscriptions.c.id == bindparam("subscription")
UNCOUNT_FOR_ALL, DROP_FOR_ALL = _uncount(), _drop()
UNCOUNT_FOR_ONE, DROP_FOR_ONE = _uncount(_of_one), _drop(_of_one)


class StoryReading(NamedTuple):
    """An entry that a subscriber of another feed has read, or has unread; `settings` are the user's preferences."""

    entry_id: int
    subscription_id: int
    settings: str | None
    is_unread: bool


async def read_reading(db: Database, feed_id: int, entry_ids: Sequence[int]) -> list[StoryReading]:
    """Which of these entries the subscribers of a feed have read or have unread, by their subscription to that feed."""
    rows = await db.query(READING, {"feed_id": feed_id, "ids": as_list(list(entry_ids))})
    return [StoryReading(row["id"], row["subscription_id"], row["settings"], bool(row["is_unread"])) for row in rows]


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
