"""The SQL statements of a feed merge: `source` is merged into `target`.

An entry is the same in both feeds if its guid and all texts are equal and it was never revised in the source. So a
forged entry in the source does not mark the real one in the target as read.
"""

from typing import Any

from sqlalchemy import ColumnElement, Delete, bindparam, exists, func, select, tuple_

from feedmill.store.dialect import InsertNew, insert_selected, one_of
from feedmill.store.entries.deferred_entries import newest_deferred
from feedmill.store.schema import (
    deliveries,
    entries,
    entry_labels,
    feed_urls,
    feeds,
    filters,
    folder_subscriptions,
    image_tasks,
    playback_positions,
    states,
    story_sketches,
    subscriptions,
    tombstones,
    unread,
    unread_lists,
    users,
)

FIRST_SHOWN = 100

_in_source, _in_target = entries.alias("in_source"), entries.alias("in_target")
_sub, _other_sub = subscriptions.alias("sub"), subscriptions.alias("other_sub")
_state, _other_state = states.alias("state"), states.alias("other_state")
_inherited = ("added_by_person", "declared", "own_title", "folder", "interval_seconds")
_kept_states = ("read_at", "starred_at", "later_at", "later_until")
_of_source, _of_target = _in_source.c.feed_id == bindparam("source"), _in_target.c.feed_id == bindparam("target")
_are_same = (
    _of_source,
    _of_target,
    _in_target.c.guid == _in_source.c.guid,
    _in_target.c.digest == _in_source.c.digest,
    _in_source.c.revision_count == 0,
)

# --- reading -----------------------------------------------------------------------------------------------

SAME = select(_in_source.c.id.label("old"), _in_target.c.id.label("new")).where(*_are_same)
_reads_both = (
    _sub.c.feed_id == bindparam("source"),
    _other_sub.c.feed_id == bindparam("target"),
    _other_sub.c.user_id == _sub.c.user_id,
)
READERS_OF_BOTH = select(_sub.c.id.label("old"), _other_sub.c.id.label("new")).where(*_reads_both)
FILTERED_OF_BOTH = READERS_OF_BOTH.where(exists().where(filters.c.subscription_id == _sub.c.id))
READERS = select(subscriptions.c.id).where(subscriptions.c.feed_id == bindparam("source"))
# Those who are still to be moved. A reader of both feeds has a subscription to the target already.
MOVING = (
    select(_sub.c.id, _sub.c.user_id)
    .where(_sub.c.feed_id == bindparam("source"))
    .where(~exists().where(_other_sub.c.feed_id == bindparam("target"), _other_sub.c.user_id == _sub.c.user_id))
    .order_by(_sub.c.id)
)
_has_guid = exists().where(_of_target, _in_target.c.guid == _in_source.c.guid)
# Entries that an admin may move: the target has no entry with this guid.
MOVABLE = select(_in_source.c.id).where(_of_source, _in_source.c.id <= bindparam("up_to"), ~_has_guid)
FIRST_MOVABLE = (
    select(_in_source.c.id, _in_source.c.title, _in_source.c.link, _in_source.c.published_at)
    .where(_of_source, ~_has_guid)
    .order_by(_in_source.c.sort_at.desc(), _in_source.c.id.desc())
    .limit(FIRST_SHOWN)
)
COUNT_MOVABLE = select(func.count().label("n"), func.max(_in_source.c.id).label("newest")).where(_of_source, ~_has_guid)
COUNT_SAME = select(func.count().label("n")).select_from(SAME.subquery("same"))
COUNT_READERS_OF_BOTH = select(func.count().label("n")).select_from(READERS_OF_BOTH.subquery("readers"))
COUNT_ALL = select(func.count().label("n")).where(entries.c.feed_id == bindparam("source"))
COUNT_WAITING = select(func.count().label("n")).where(
    deliveries.c.feed_id == bindparam("source"), deliveries.c.status == "pending"
)
INHERITED = select(*(feeds.c[name] for name in ("id", *_inherited))).where(one_of(feeds.c.id, "ids"))
HAS_FORMER_URL = select(feed_urls.c.id).where(
    feed_urls.c.feed_id == bindparam("target"), feed_urls.c.url == bindparam("url")
)

# --- states of entries that are the same --------------------------------------------------------------------

_old_state = [_state.c[name].label(f"old_{name}") for name in _kept_states]
STATES_OF_SAME = select(_state.c.user_id.label("reader"), _in_target.c.id.label("new"), *_old_state).where(
    *_are_same, _state.c.entry_id == _in_source.c.id
)
STATES_OF_BOTH = STATES_OF_SAME.where(
    _other_state.c.entry_id == _in_target.c.id, _other_state.c.user_id == _state.c.user_id
)
READ_IN_SOURCE = select(users.c.unread_list_id.label("list"), _in_target.c.id.label("new"), _in_target.c.sort_at).where(
    *_are_same, states.c.entry_id == _in_source.c.id, states.c.read_at.is_not(None), users.c.id == states.c.user_id
)
COPY_STATES = insert_selected(
    states, STATES_OF_SAME.add_columns(bindparam("at", type_=states.c.changed_at.type).label("merged_at"))
)
JOIN_STATES = (
    states.update()
    .where(states.c.user_id == bindparam("reader"), states.c.entry_id == bindparam("new"))
    .values(
        {name: func.coalesce(states.c[name], bindparam(f"old_{name}")) for name in _kept_states}
        | {"changed_at": bindparam("at")}
    )
)
COPY_LABELS = insert_selected(
    entry_labels,
    select(entry_labels.c.label_id.label("a"), _in_target.c.id.label("b"), entry_labels.c.sort_at.label("c")).where(
        *_are_same, entry_labels.c.entry_id == _in_source.c.id
    ),
)
COPY_POSITIONS = insert_selected(
    playback_positions,
    select(
        playback_positions.c.user_id.label("a"),
        _in_target.c.id.label("b"),
        playback_positions.c.enclosure.label("c"),
        playback_positions.c.seconds.label("d"),
        playback_positions.c.played_at.label("e"),
    ).where(*_are_same, playback_positions.c.entry_id == _in_source.c.id),
)
# Unread rows are found by list and subscription, because there is no index by entry or by subscription alone. Retired
# lists that can be restored are included.
_of_moving = (_sub.c.feed_id == bindparam("source"), one_of(_sub.c.id, "moving_ids"))
_unread_of_sub = (
    unread_lists.c.user_id == _sub.c.user_id,
    unread.c.list_id == unread_lists.c.id,
    unread.c.subscription_id == _sub.c.id,
)
_subscribed = unread.c.subscription_id.label("d")
# A subscriber of both feeds has the target's row in the unread list already, or has read it.
COPY_UNREAD = insert_selected(
    unread,
    select(unread.c.list_id.label("a"), _in_target.c.sort_at.label("b"), _in_target.c.id.label("c"), _subscribed).where(
        *_are_same, unread.c.entry_id == _in_source.c.id, *_of_moving, *_unread_of_sub
    ),
)
# Selected again in each statement, so that nothing is deleted that was not copied.
_same_of_source = select(_in_source.c.id).where(*_are_same)
DROP_STATES = states.delete().where(states.c.entry_id.in_(_same_of_source))
DROP_POSITIONS = playback_positions.delete().where(playback_positions.c.entry_id.in_(_same_of_source))
DROP_LABELS = entry_labels.delete().where(entry_labels.c.entry_id.in_(_same_of_source))


def _forget_unread(*which: ColumnElement[bool]) -> Delete:
    of_readers = select(unread_lists.c.id, _sub.c.id).where(unread_lists.c.user_id == _sub.c.user_id, *which)
    return unread.delete().where(
        tuple_(unread.c.list_id, unread.c.subscription_id).in_(of_readers), unread.c.entry_id.in_(_same_of_source)
    )


FORGET_UNREAD = _forget_unread(_sub.c.feed_id == bindparam("source"))
FORGET_UNREAD_OF_MOVING = _forget_unread(*_of_moving)
# Of one entry, by the primary key.
READ_IN_TARGET = unread.delete().where(
    one_of(unread.c.list_id, "lists"), unread.c.sort_at == bindparam("sort_at"), unread.c.entry_id == bindparam("new")
)
_has_read = exists().where(
    states.c.user_id == _sub.c.user_id, states.c.entry_id == _in_target.c.id, states.c.read_at.is_not(None)
)
# Entries that came to the target since the source was last fetched are new to the subscribers of the source.
_is_unseen = (
    _of_target,
    _in_target.c.in_feed == 1,
    _in_target.c.first_seen_at > bindparam("seen_until"),
    ~exists().where(*_are_same),
)
FIRST_UNSEEN = select(func.min(_in_target.c.id).label("id")).where(*_is_unseen)
ADD_UNSEEN = insert_selected(
    unread,
    select(
        users.c.unread_list_id.label("a"),
        _in_target.c.sort_at.label("b"),
        _in_target.c.id.label("c"),
        _sub.c.id.label("d"),
    ).where(
        *_of_moving,
        _sub.c.paused == 0,
        users.c.id == _sub.c.user_id,
        *_is_unseen,
        ~_has_read,
    ),
)

# --- subscriptions -----------------------------------------------------------------------------------------

COPY_FOLDERS = insert_selected(
    folder_subscriptions,
    select(folder_subscriptions.c.folder_id.label("a"), _other_sub.c.id.label("b")).where(
        *_reads_both, folder_subscriptions.c.subscription_id == _sub.c.id
    ),
)
MOVE_FILTERS = (
    filters.update().where(filters.c.subscription_id == bindparam("old")).values(subscription_id=bindparam("new"))
)
# What processes have cached of these filters is out of date.
SET_FILTERS_VERSION = (
    users.update()
    .where(users.c.id.in_(select(subscriptions.c.user_id).where(subscriptions.c.id == bindparam("old"))))
    .values(filters_version=bindparam("version"))
)
_given: dict[str, Any] = {"feed_id": bindparam("target")}
MOVE_SUBSCRIPTIONS = (
    subscriptions.update()
    .where(one_of(subscriptions.c.id, "moving_ids"), subscriptions.c.feed_id == bindparam("source"))
    .values(_given | {"filled_to": newest_deferred(bindparam("target"))})
)
_chosen = ("title", "interval_seconds", "archive_policy", "settings", "created_at")
_was_moved = (one_of(_sub.c.id, "moving_ids"), _sub.c.feed_id == bindparam("target"))
# The subscription to the old entries of the source. Its settings are those of the moved one.
KEEP_SUBSCRIPTIONS = insert_selected(
    subscriptions,
    select(
        _sub.c.user_id,
        feeds.c.id.label("feed"),
        newest_deferred(feeds.c.id).label("filled_to"),
        *(_sub.c[name] for name in _chosen),
    ).where(*_was_moved, feeds.c.id == bindparam("source")),
    "user_id",
    "feed_id",
    "filled_to",
    *_chosen,
)
_kept = subscriptions.alias("kept")
_was_kept = (*_was_moved, _kept.c.user_id == _sub.c.user_id, _kept.c.feed_id == bindparam("source"))
KEEP_FOLDERS = insert_selected(
    folder_subscriptions,
    select(folder_subscriptions.c.folder_id.label("a"), _kept.c.id.label("b")).where(
        *_was_kept, folder_subscriptions.c.subscription_id == _sub.c.id
    ),
)
_to_keep = (
    select(unread_lists.c.id.label("list"), _sub.c.id.label("moved"), _kept.c.id.label("kept"))
    .where(*_was_kept, unread_lists.c.user_id == _sub.c.user_id)
    .subquery("to_keep")
)
KEEP_UNREAD = (
    unread.update()
    .where(unread.c.list_id == _to_keep.c.list, unread.c.subscription_id == _to_keep.c.moved)
    .where(unread.c.entry_id.in_(select(entries.c.id).where(entries.c.feed_id == bindparam("source"))))
    .values(subscription_id=_to_keep.c.kept)
)
DROP_SUBSCRIPTIONS = subscriptions.delete().where(one_of(subscriptions.c.id, "ids"))
_count = (
    select(func.count())
    .select_from(unread.join(users, users.c.unread_list_id == unread.c.list_id))
    .where(unread.c.subscription_id == subscriptions.c.id, users.c.id == subscriptions.c.user_id)
    .scalar_subquery()
)
_counted = subscriptions.update().where(subscriptions.c.unread_count != _count).values(unread_count=_count)
COUNT_UNREAD = _counted.where(subscriptions.c.feed_id == bindparam("feed"))
COUNT_UNREAD_OF_MOVED = COUNT_UNREAD.where(one_of(subscriptions.c.user_id, "moving_users"))

# --- moved entries -----------------------------------------------------------------------------------------

# So that a restore of the source does not add them again.
ADD_TOMBSTONES = InsertNew(tombstones).from_select(
    ["feed_id", "guid", "purged_at"],
    select(_in_source.c.feed_id, _in_source.c.guid, bindparam("at")).where(_of_source, one_of(_in_source.c.id, "ids")),
)
DROP_SAME = entries.delete().where(
    one_of(entries.c.id, "ids"),
    ~exists().where(states.c.entry_id == entries.c.id),
    ~exists().where(entry_labels.c.entry_id == entries.c.id),
)
MOVE_ENTRIES = (
    entries.update()
    .where(one_of(entries.c.id, "ids"), entries.c.feed_id == bindparam("source"))
    .values(_given | {"in_feed": 0, "last_seen_at": bindparam("at")})
)
MOVE_IMAGES = image_tasks.update().where(one_of(image_tasks.c.entry_id, "ids")).values(_given)
MOVE_SKETCHES = story_sketches.update().where(one_of(story_sketches.c.entry_id, "ids")).values(_given)
_to_move = (
    select(unread_lists.c.id.label("list"), _sub.c.id.label("old"), _other_sub.c.id.label("new"))
    .where(*_reads_both, unread_lists.c.user_id == _sub.c.user_id)
    .subquery("to_move")
)
MOVE_UNREAD = (
    unread.update()
    .where(unread.c.list_id == _to_move.c.list, unread.c.subscription_id == _to_move.c.old)
    .where(unread.c.entry_id.in_(select(entries.c.id).where(one_of(entries.c.id, "ids"))))
    .values(subscription_id=_to_move.c.new)
)
# A delivery reads the entries of its feed when it is sent.
MOVE_DELIVERIES = deliveries.update().where(deliveries.c.feed_id == bindparam("source")).values(_given)

# --- the two feeds -----------------------------------------------------------------------------------------

COUNT_ENTRIES = (
    feeds.update()
    .where(feeds.c.id == bindparam("feed"))
    .values(entry_count=select(func.count()).where(entries.c.feed_id == bindparam("feed")).scalar_subquery())
)
INHERIT = (
    feeds.update()
    .where(feeds.c.id == bindparam("target"))
    .values({name: bindparam(f"new_{name}") for name in _inherited})
)
# Retention starts now.
LEAVE_FEED = (
    entries.update()
    .where(entries.c.feed_id == bindparam("source"), entries.c.in_feed == 1)
    .values(in_feed=0, last_seen_at=bindparam("at"))
)
RETIRE = (
    feeds.update()
    .where(feeds.c.id == bindparam("source"))
    .values(status="disabled", next_fetch_at=None, next_fetch_why=bindparam("why"), moved_to=bindparam("to"))
    .values(merged_into=bindparam("target"), gone_since=None, declared=0)
    # A running refresh must not add entries to the source.
    .values(claim_token=None, claimed_until=None)
)
# Feeds that were merged into the source earlier now point to the target.
UPDATE_EARLIER_MERGES = (
    feeds.update()
    .where(feeds.c.merged_into == bindparam("source"))
    .values(merged_into=bindparam("target"), moved_to=bindparam("to"))
)
