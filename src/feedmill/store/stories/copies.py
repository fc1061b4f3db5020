"""Copies: entries that a list leaves out, because it shows another entry of the same story.

Of the entries of a story that belong to a list, the one that was stored first is shown. This is decided when a page is
read, so that nothing has to be kept up to date: when that entry is read, hidden by a filter, purged, or its feed is
left, the next one takes its place. A feed or folder that is switched off takes no part (`story_switches.py`).

Only entries of feeds that the user subscribes to count. Of all others the user learns nothing. Entries of one feed are
no copies of each other: they may be episodes with the same words. So the list of a feed leaves nothing out.
"""

from sqlalchemy import ColumnElement, Exists, and_, bindparam, exists

from feedmill.model.entry_lists import EntryView
from feedmill.model.filters.entry_filter import FilterAction
from feedmill.store.dialect import one_of
from feedmill.store.entries.unread_list_sql import UNREAD_LIST_ID
from feedmill.store.schema import entries, entry_labels, filter_effects, story_entries, subscriptions, unread
from feedmill.store.stories.story_switches import takes_part

# The views that show a story once. What a user starred, keeps for later or has read is a list of its own.
VIEWS_OF_STORIES = (EntryView.UNREAD, EntryView.ALL)


def is_copy(
    entry_id: ColumnElement[int],
    subscription_id: ColumnElement[int],
    view: EntryView,
    of_one: bool | None,
    labelled: bool = False,
    among_raised: bool = False,
) -> Exists:
    """Whether a list has an earlier entry of the same story. `of_one`: one subscription, several, or no limit (None).

    `among_raised`: one that filters raised by `until`. What is shown first has no copy among what is not.
    The parameters are those of the list: `of_user`, `subscription_id` or `subscriptions`, `label_id`, and `oldest`, the
    time before which an entry does not belong to it (empty: no limit).
    """
    own, own_feed = story_entries.alias("own_story"), subscriptions.alias("own_feed")
    other, earlier = story_entries.alias("other_story"), entries.alias("earlier")
    its_feed = subscriptions.alias("earlier_feed")
    found = exists().where(
        own.c.entry_id == entry_id,
        own_feed.c.id == subscription_id,
        takes_part(own_feed),
        other.c.story_id == own.c.story_id,
        other.c.entry_id < own.c.entry_id,
        earlier.c.id == other.c.entry_id,
        earlier.c.sort_at >= bindparam("oldest"),
        its_feed.c.user_id == bindparam("of_user"),
        its_feed.c.feed_id == earlier.c.feed_id,
        its_feed.c.id != own_feed.c.id,
        takes_part(its_feed),
    )
    if of_one is not None:
        own_id = its_feed.c.id
        found = found.where(own_id == bindparam("subscription_id") if of_one else one_of(own_id, "subscriptions"))
    if view is EntryView.UNREAD:
        found = found.where(_is_unread(earlier.c.sort_at, earlier.c.id))
    if labelled:
        found = found.where(_has_label(earlier.c.id))
    if among_raised:
        found = found.where(_is_raised(earlier.c.id))
    return found


def _is_unread(sort_at: ColumnElement[str], entry_id: ColumnElement[int]) -> ColumnElement[bool]:
    rows = unread.alias("earlier_unread")
    return and_(rows.c.list_id == UNREAD_LIST_ID, rows.c.sort_at == sort_at, rows.c.entry_id == entry_id)


def _is_raised(entry_id: ColumnElement[int]) -> ColumnElement[bool]:
    rows = filter_effects.alias("earlier_raised")
    return exists().where(
        rows.c.user_id == bindparam("of_user"),
        rows.c.action == FilterAction.RAISE,
        rows.c.entry_id == entry_id,
        rows.c.at <= bindparam("until"),
    )


def _has_label(entry_id: ColumnElement[int]) -> ColumnElement[bool]:
    rows = entry_labels.alias("earlier_label")
    return and_(rows.c.label_id == bindparam("label_id"), rows.c.entry_id == entry_id)
