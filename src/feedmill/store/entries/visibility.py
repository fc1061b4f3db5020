"""Who may see an entry: a user who subscribes to its feed, starred it, keeps it for later or labelled it.

The rule is here in three forms, because each statement is fast only with one of them. For all other users the entry
does not exist.
"""

from typing import Any

from sqlalchemy import ColumnElement, CompoundSelect, Exists, Select, exists, or_, select, union

from feedmill.store.schema import entries, entry_labels, labels, states, subscriptions

Condition = ColumnElement[bool]
UserId = ColumnElement[int]

is_starred: Condition = states.c.starred_at.is_not(None)
is_kept_for_later: Condition = states.c.later_at.is_not(None)


def is_visible_row(is_labelled: Condition) -> Condition:
    """The rule for a row of entries that is joined with the user's subscription and states, if there are any."""
    return or_(subscriptions.c.id.is_not(None), is_starred, is_kept_for_later, is_labelled)


def is_visible(user_id: UserId) -> Condition:
    """The rule for an entry alone."""
    subscribed = select(subscriptions.c.feed_id).where(subscriptions.c.user_id == user_id)
    return or_(
        entries.c.feed_id.in_(subscribed),
        has_state(user_id).where(or_(is_starred, is_kept_for_later)),
        has_label_of(user_id),
    )


def visible_entry_ids(user_id: UserId) -> CompoundSelect[Any]:
    """The ids of all entries that the user may see."""
    subscribed = select(subscriptions.c.feed_id).where(subscriptions.c.user_id == user_id)
    return union(select(entries.c.id).where(entries.c.feed_id.in_(subscribed)), *_marked(user_id))


def marked_entry_ids(user_id: UserId) -> CompoundSelect[Any]:
    """The ids of entries that the user may see whatever they subscribe to."""
    return union(*_marked(user_id))


def _marked(user_id: UserId) -> tuple[Select[Any], ...]:
    labelled = select(entry_labels.c.entry_id).join(labels, labels.c.id == entry_labels.c.label_id)
    return (
        entry_ids_of_states(user_id).where(is_starred),
        entry_ids_of_states(user_id).where(is_kept_for_later),
        labelled.where(labels.c.user_id == user_id),
    )


def has_state(user_id: UserId) -> Exists:
    """Whether the user has a state for the entry that fulfils `where`."""
    return exists().where(states.c.user_id == user_id, states.c.entry_id == entries.c.id)


def has_label_of(user_id: UserId) -> Exists:
    """Whether the entry has a label of the user's."""
    return exists().where(
        entry_labels.c.entry_id == entries.c.id, labels.c.id == entry_labels.c.label_id, labels.c.user_id == user_id
    )


def entry_ids_of_states(user_id: UserId) -> Select[Any]:
    """The ids of entries for which the user has a state that fulfils `where`."""
    return select(states.c.entry_id).where(states.c.user_id == user_id)
