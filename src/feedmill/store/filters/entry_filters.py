"""Steps that apply a subscriber's filters to new entries, and sample entries to preview filters on."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Integer, bindparam, select

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import InsertNew, as_list, insert_selected, one_of
from feedmill.store.schema import entries, entry_labels, full_text_tasks, labels, subscriptions, unread, users

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
ADD_FULL_TEXT_TASKS = InsertNew(full_text_tasks).from_select(
    ["entry_id", "next_attempt_at"],
    select(entries.c.id, bindparam("at")).where(*_named, entries.c.link.is_not(None)),
)
NEWEST = (
    select(
        entries.c.id,
        entries.c.sort_at,
        entries.c.link,
        entries.c.title,
        entries.c.author,
        entries.c.summary,
        entries.c.content_html,
    )
    .where(entries.c.feed_id == bindparam("feed"))
    .order_by(entries.c.sort_at.desc(), entries.c.id.desc())
    .limit(bindparam("most", type_=Integer))
)


class FilterSample(NamedTuple):
    """An entry to preview rules on."""

    id: int
    link: str | None
    title: str | None
    author: str | None
    summary: str | None
    content_html: str | None
    sort_at: str


def steps_to_block_entries(subscription_id: int, feed_id: int, guids: Sequence[str]) -> list[Step]:
    """Removes these new entries from the subscriber's unread list; follows the steps that added them."""
    params = {"subscription": subscription_id, "feed": feed_id, "guids": as_list(list(guids)), "number": len(guids)}
    return [Step(UNCOUNT, params), Step(DROP_UNREAD, params)] if guids else []


def steps_to_label_entries(user_id: int, label_ids: Sequence[int], feed_id: int, guids: Sequence[str]) -> list[Step]:
    """Adds these labels to these new entries, as far as the user still has them."""
    params: dict[str, Any] = {"of_user": user_id, "feed": feed_id, "guids": as_list(list(guids))}
    return [Step(LABEL, params | {"label_ids": as_list(list(label_ids))})] if label_ids and guids else []


def steps_to_fetch_full_texts(feed_id: int, guids: Sequence[str], now: datetime) -> list[Step]:
    """Queues the full texts of these new entries."""
    params = {"feed": feed_id, "guids": as_list(list(guids)), "at": to_iso(now)}
    return [Step(ADD_FULL_TEXT_TASKS, params)] if guids else []


async def newest_filter_samples(db: Database, feed_id: int, most: int) -> list[FilterSample]:
    """The newest entries of a feed."""
    return [FilterSample(**row) for row in await db.query(NEWEST, {"feed": feed_id, "most": most})]
