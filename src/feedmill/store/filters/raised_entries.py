"""Finds the unread entries of a list that filters raised, so that the list can show them first.

What filters raised is read along the primary key of `filter_effects`, the newest entries first, and looked up in the
unread list. Entries stay raised when they are read, so only the newest ones are looked at: the cost has a limit,
however much filters have ever raised.
"""

from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, Subquery, bindparam, exists, not_, select

from feedmill.model.entry_lists import EntryOrder, ListPosition, RaisedRange
from feedmill.model.filters.entry_filter import FilterAction
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database
from feedmill.store.dialect import one_of
from feedmill.store.entries.list_pages import ListKind, ListRange, is_beyond
from feedmill.store.entries.unread_list_sql import UNREAD_LIST_ID
from feedmill.store.literal_limits import literal_number
from feedmill.store.schema import entries, entry_labels, filter_effects, unread
from feedmill.store.stories.copies import is_copy

MOST_LOOKED_AT = 500

_keys = (entries.c.sort_at, entries.c.id)


def _newest_raised(*which: ColumnElement[bool]) -> Subquery:
    of_user = filter_effects.c.user_id == bindparam("of_user")
    return (
        select(filter_effects.c.entry_id)
        .where(
            of_user, filter_effects.c.action == FilterAction.RAISE, filter_effects.c.at <= bindparam("until"), *which
        )
        .order_by(filter_effects.c.entry_id.desc())
        .limit(literal_number(MOST_LOOKED_AT))
        .subquery("raised")
    )


async def find_raised(
    db: Database, user_id: int, list_range: ListRange, now: datetime, until: str | None = None
) -> list[ListPosition]:
    """The entries of a part of an unread list that were raised by now, or `until` another time, in its order.

    None of them is older than the list's `oldest`.
    """
    params = list_range.params(user_id, now) | {"until": until or to_iso(now)}
    rows = await db.query(raised_statement(list_range.kind), params)
    return [ListPosition(row["at"], row["id"]) for row in rows[: list_range.most]]


async def raised_until(db: Database, user_id: int, raised: RaisedRange, order: EntryOrder) -> frozenset[int]:
    """The entries that a list showed first, whether they are still unread or not."""
    params = {"of_user": user_id, "lowest_id": raised.lowest_id, "until": raised.until}
    params |= {"at": raised.last.at, "entry_id": raised.last.entry_id}
    return frozenset(row["id"] for row in await db.query(shown_statement(order), params))


@cache
def raised_statement(kind: ListKind) -> Select[Any]:
    raised, lookup = _newest_raised(), unread.alias("lookup")
    # A value for each entry, not a join: PostgreSQL would read the whole unread list for that.
    subscription_id = (
        select(lookup.c.subscription_id)
        .where(
            lookup.c.list_id == UNREAD_LIST_ID,
            lookup.c.sort_at == entries.c.sort_at,
            lookup.c.entry_id == entries.c.id,
        )
        .scalar_subquery()
    )
    listed = (
        select(entries.c.sort_at.label("sort_at"), entries.c.id.label("id"), subscription_id.label("subscription_id"))
        .select_from(raised.join(entries, entries.c.id == raised.c.entry_id))
        # It has no more rows. The limit keeps PostgreSQL from applying the conditions below to all entries first.
        .limit(literal_number(MOST_LOOKED_AT))
        .subquery("listed")
    )
    keys = (listed.c.sort_at, listed.c.id)
    found = select(listed.c.sort_at.label("at"), listed.c.id).where(
        is_beyond(kind.order, keys),
        listed.c.sort_at >= bindparam("oldest"),
        *_in_scope(kind, listed),
    )
    newest_first = kind.order is EntryOrder.NEWEST
    return found.order_by(*(key.desc() if newest_first else key for key in keys)).limit(literal_number(kind.size))


def _in_scope(kind: ListKind, listed: Subquery) -> list[ColumnElement[bool]]:
    own = listed.c.subscription_id
    which: list[ColumnElement[bool]] = [_is_unread_in(kind.of_one, own)]
    if kind.labelled:
        labelled = entry_labels.c.label_id == bindparam("label_id")
        which.append(exists().where(labelled, entry_labels.c.entry_id == listed.c.id))
    if kind.stories_once:
        which.append(not_(is_copy(listed.c.id, own, kind.view, kind.of_one, kind.labelled, among_raised=True)))
    return which


def _is_unread_in(of_one: bool | None, subscription_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Whether an entry is unread in one subscription, in several, or in any (None)."""
    if of_one is None:
        return subscription_id.is_not(None)
    return subscription_id == bindparam("subscription_id") if of_one else one_of(subscription_id, "subscriptions")


@cache
def shown_statement(order: EntryOrder) -> Select[Any]:
    raised = _newest_raised(filter_effects.c.entry_id >= bindparam("lowest_id"))
    found = select(entries.c.id).select_from(raised.join(entries, entries.c.id == raised.c.entry_id))
    return found.where(not_(is_beyond(order, _keys)))
