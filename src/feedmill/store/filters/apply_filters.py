"""Steps that apply the rules of subscribers to new entries: some are not unread, others get labels.

They follow the steps that add the entries. Their number does not depend on that of the subscribers.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Column, and_, bindparam, exists, func, select

from feedmill.store.columns import Id, exact_text
from feedmill.store.database import Step
from feedmill.store.dialect import insert_selected
from feedmill.store.json_rows import as_rows, json_rows
from feedmill.store.schema import entries, entry_labels, labels, subscriptions, unread, users

_blocked = json_rows("blocked", Column("of_subscription", Id), Column("guid", exact_text(512)))
_named = and_(entries.c.feed_id == bindparam("feed"), entries.c.guid == _blocked.c.guid)
_numbers = (
    select(_blocked.c.of_subscription, func.count().label("n")).group_by(_blocked.c.of_subscription).subquery("numbers")
)
# Only for a subscription that is still there and not paused, as the refresh counted them.
UNCOUNT = (
    subscriptions.update()
    .where(
        subscriptions.c.id == _numbers.c.of_subscription,
        subscriptions.c.feed_id == bindparam("feed"),
        subscriptions.c.paused == 0,
    )
    .values(unread_count=subscriptions.c.unread_count - _numbers.c.n)
)
_lists = (
    select(users.c.unread_list_id)
    .join(subscriptions, subscriptions.c.user_id == users.c.id)
    .where(subscriptions.c.id.in_(select(_blocked.c.of_subscription)))
)
# By the first columns of the primary key, because there is no index by entry.
DROP_UNREAD = unread.delete().where(
    unread.c.list_id.in_(_lists),
    unread.c.sort_at.in_(select(entries.c.sort_at).join(_blocked, _named)),
    exists().where(_named, entries.c.id == unread.c.entry_id, _blocked.c.of_subscription == unread.c.subscription_id),
)
_labelled = json_rows("labelled", Column("of_user", Id), Column("label_id", Id), Column("guid", exact_text(512)))
LABEL = insert_selected(
    entry_labels,
    select(labels.c.id.label("a"), entries.c.id.label("b"), entries.c.sort_at.label("c"))
    .select_from(
        _labelled.join(labels, and_(labels.c.id == _labelled.c.label_id, labels.c.user_id == _labelled.c.of_user))
    )
    .join(entries, and_(entries.c.feed_id == bindparam("feed"), entries.c.guid == _labelled.c.guid)),
)


class LabelledEntry(NamedTuple):
    """A label of a user for a new entry."""

    user_id: int
    label_id: int
    guid: str


def steps_to_block_entries(feed_id: int, guids: Mapping[int, Collection[str]]) -> list[Step]:
    """Removes new entries from the unread lists of subscribers: by subscription, their guids."""
    rows = [(subscription_id, guid) for subscription_id, some in sorted(guids.items()) for guid in sorted(some)]
    return [
        Step(statement, {"feed": feed_id, "blocked": some})
        for some in as_rows(rows)
        for statement in (UNCOUNT, DROP_UNREAD)
    ]


def steps_to_label_entries(feed_id: int, labelled: Sequence[LabelledEntry]) -> list[Step]:
    """Adds labels to new entries, as far as their users still have them."""
    return [Step(LABEL, {"feed": feed_id, "labelled": some}) for some in as_rows(labelled)]
