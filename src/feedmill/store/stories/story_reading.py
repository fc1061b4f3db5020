"""Whether users have read stories: by their own act, in a feed that they still subscribe to."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Integer, and_, bindparam, case, exists, or_, select

from feedmill.model.filters.entry_filter import FilterAction
from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import (
    entries,
    filter_effects,
    states,
    story_entries,
    subscriptions,
    unread,
    unread_lists,
    users,
)
from feedmill.store.stories.story_switches import takes_part

_its_feed, _new_feed = subscriptions.alias("its_feed"), subscriptions.alias("new_feed")
_in_current, _in_retired = unread.alias("in_current"), unread.alias("in_retired")

_is_unread = exists().where(
    _in_current.c.list_id == users.c.unread_list_id,
    _in_current.c.sort_at == entries.c.sort_at,
    _in_current.c.entry_id == entries.c.id,
)
_by_filter = exists().where(
    filter_effects.c.user_id == users.c.id,
    filter_effects.c.action == FilterAction.READ,
    filter_effects.c.entry_id == entries.c.id,
)
# Marked one by one, not by a filter; or with all others, as retired lists tell until they are deleted.
_was_read = or_(
    exists().where(
        states.c.user_id == users.c.id, states.c.entry_id == entries.c.id, states.c.read_at.is_not(None), ~_by_filter
    ),
    exists().where(
        unread_lists.c.user_id == users.c.id,
        unread_lists.c.retired_at.is_not(None),
        _in_retired.c.list_id == unread_lists.c.id,
        _in_retired.c.sort_at == entries.c.sort_at,
        _in_retired.c.entry_id == entries.c.id,
    ),
)
_unread_column = case((_is_unread, 1), else_=0).label("is_unread")
_readers = entries.join(_its_feed, and_(_its_feed.c.feed_id == entries.c.feed_id, takes_part(_its_feed))).join(
    users, users.c.id == _its_feed.c.user_id
)
OF_SUBSCRIBERS = (
    select(entries.c.id, _new_feed.c.id.label("subscription_id"), users.c.settings, _unread_column)
    .select_from(
        _readers.join(_new_feed, and_(_new_feed.c.user_id == users.c.id, _new_feed.c.feed_id == bindparam("feed_id")))
    )
    .where(one_of(entries.c.id, "ids"), _new_feed.c.paused == 0, takes_part(_new_feed), or_(_is_unread, _was_read))
)
_newest = (
    select(entries.c.id)
    .where(entries.c.feed_id == bindparam("feed_id"))
    .order_by(entries.c.sort_at.desc(), entries.c.id.desc())
    .limit(bindparam("newest", type_=Integer))
    .subquery("newest")
)
_own, _other = story_entries.alias("own"), story_entries.alias("other")
OF_FEED = (
    select(_own.c.entry_id.label("id"), _unread_column)
    .select_from(
        _newest.join(_own, _own.c.entry_id == _newest.c.id)
        .join(_other, and_(_other.c.story_id == _own.c.story_id, _other.c.entry_id != _own.c.entry_id))
        .join(_readers, entries.c.id == _other.c.entry_id)
    )
    .where(users.c.id == bindparam("of_user"), or_(_is_unread, _was_read))
)


class StoryReading(NamedTuple):
    """An entry that a subscriber of another feed has read, or has unread; `settings` are the user's preferences."""

    entry_id: int
    subscription_id: int
    settings: str | None
    is_unread: bool


async def reading_of_subscribers(db: Database, feed_id: int, entry_ids: Sequence[int]) -> list[StoryReading]:
    """Which of these entries the subscribers of a feed have read or have unread, by their subscription to that feed."""
    rows = await db.query(OF_SUBSCRIBERS, {"feed_id": feed_id, "ids": as_list(list(entry_ids))})
    return [StoryReading(row["id"], row["subscription_id"], row["settings"], bool(row["is_unread"])) for row in rows]


async def find_read_stories(db: Database, user_id: int, feed_id: int, newest: int) -> list[int]:
    """Those of the newest entries of a feed whose stories the user has read in other feeds, and has none of unread."""
    rows = await db.query(OF_FEED, {"of_user": user_id, "feed_id": feed_id, "newest": newest})
    still_unread = {row["id"] for row in rows if row["is_unread"]}
    return sorted({row["id"] for row in rows} - still_unread)
