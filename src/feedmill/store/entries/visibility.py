"""Who may see an entry: a user who subscribes to its feed, starred it, keeps it for later or labelled it.

The rule stands here in the three forms that statements need; a statement is fast only in the one that fits it. For
everybody else there is no such entry.
"""

from typing import Any

from sqlalchemy import ColumnElement, CompoundSelect, Exists, Select, exists, or_, select, union

from feedmill.store.schema import entries, entry_labels, labels, states, subscriptions

Condition = ColumnElement[bool]
UserId = ColumnElement[int]

is_starred: Condition = states.c.starred_at.is_not(None)
is_kept_for_later: Condition = states.c.later_at.is_not(None)


def is_visible_row(is_labelled: Condition) -> Condition:
    """Of a row of entries with the user's subscription and states joined to it, if there are any."""
    return or_(subscriptions.c.id.is_not(None), is_starred, is_kept_for_later, is_labelled)


def is_visible(user_id: UserId) -> Condition:
    """Of an entry alone."""
    subscribed = select(subscriptions.c.feed_id).where(subscriptions.c.user_id == user_id)
    return or_(
        entries.c.feed_id.in_(subscribed),
        has_state(user_id).where(or_(is_starred, is_kept_for_later)),
        has_label_of(user_id),
    )


def visible_entry_ids(user_id: UserId) -> CompoundSelect[Any]:
    """The ids of all that the user may see."""
    subscribed = select(subscriptions.c.feed_id).where(subscriptions.c.user_id == user_id)
    labelled = select(entry_labels.c.entry_id).join(labels, labels.c.id == entry_labels.c.label_id)
    return union(
        select(entries.c.id).where(entries.c.feed_id.in_(subscribed)),
        entry_ids_of_states(user_id).where(is_starred),
        entry_ids_of_states(user_id).where(is_kept_for_later),
        labelled.where(labels.c.user_id == user_id),
    )


def has_state(user_id: UserId) -> Exists:
    """Whether the user ever did something with the entry; `where` says what."""
    return exists().where(states.c.user_id == user_id, states.c.entry_id == entries.c.id)


def has_label_of(user_id: UserId) -> Exists:
    """Whether the entry has a label of the user's."""
    return exists().where(
        entry_labels.c.entry_id == entries.c.id, labels.c.id == entry_labels.c.label_id, labels.c.user_id == user_id
    )


def entry_ids_of_states(user_id: UserId) -> Select[Any]:
    """The ids of entries that the user ever did something with; `where` says what."""
    return select(states.c.entry_id).where(states.c.user_id == user_id)
