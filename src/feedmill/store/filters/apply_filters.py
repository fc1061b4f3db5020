"""Steps that apply a subscriber's filters to new entries, and sample entries to preview filters on."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Integer, bindparam, select

from feedmill.store.database import Step
from feedmill.store.dialect import as_list, insert_selected, one_of
from feedmill.store.schema import entries, entry_labels, labels, subscriptions, unread, users

_subscription = subscriptions.c.id == bindparam("subscription")
_its_list = (
    select(users.c.unread_list_id).join(subscriptions, subscriptions.c.user_id == users.c.id).where(_subscription)
)
_named = (entries.c.feed_id == bindparam("feed"), one_of(entries.c.guid, "guids"))
# Only for a subscription that is still there and not paused, as the refresh counted them.
UNCOUNT = (
    subscriptions.update()
    .where(_subscription, subscriptions.c.feed_id == bindparam("feed"), subscriptions.c.paused == 0)
    .values(unread_count=subscriptions.c.unread_count - bindparam("number", type_=Integer))
)
# By the primary key, because there is no index by entry.
DROP_UNREAD = unread.delete().where(
    unread.c.list_id.in_(_its_list),
    unread.c.sort_at.in_(select(entries.c.sort_at).where(*_named)),
    # The + 0 keeps SQLite from probing every pair of time and entry.
    (unread.c.entry_id + 0).in_(select(entries.c.id).where(*_named)),
    unread.c.subscription_id == bindparam("subscription"),
)
LABEL = insert_selected(
    entry_labels,
    select(labels.c.id.label("a"), entries.c.id.label("b"), entries.c.sort_at.label("c"))
    .select_from(labels.join(entries, entries.c.feed_id == bindparam("feed")))
    .where(labels.c.user_id == bindparam("of_user"), one_of(labels.c.id, "label_ids"), one_of(entries.c.guid, "guids")),
)


def steps_to_block_entries(subscription_id: int, feed_id: int, guids: Sequence[str]) -> list[Step]:
    """Removes these new entries from the subscriber's unread list; follows the steps that added them."""
    return steps_to_block_for_many(feed_id, {subscription_id: guids})


def steps_to_block_for_many(feed_id: int, guids: Mapping[int, Sequence[str]]) -> list[Step]:
    """Removes new entries from the unread lists of several subscribers: by subscription, their guids."""
    rows = [
        {"subscription": subscription_id, "feed": feed_id, "guids": as_list(list(some)), "number": len(some)}
        for subscription_id, some in guids.items()
        if some
    ]
    return [Step(UNCOUNT, rows), Step(DROP_UNREAD, rows)] if rows else []


def steps_to_label_entries(user_id: int, label_ids: Sequence[int], feed_id: int, guids: Sequence[str]) -> list[Step]:
    """Adds these labels to these new entries, as far as the user still has them."""
    params: dict[str, Any] = {"of_user": user_id, "feed": feed_id, "guids": as_list(list(guids))}
    return [Step(LABEL, params | {"label_ids": as_list(list(label_ids))})] if label_ids and guids else []
