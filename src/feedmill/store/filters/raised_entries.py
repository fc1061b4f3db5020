"""Finds the unread entries of a list that filters raised, so that the list can show them first.

What filters raised is read along the primary key of `filter_effects`, the newest entries first, and looked up in the
unread list. Entries stay raised when they are read, so only the newest ones are looked at: the cost has a limit,
however much filters have ever raised.
"""

from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, Subquery, and_, bindparam, exists, not_, select

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

MOST_LOOKED_AT = 1000

_keys = (entries.c.sort_at, entries.c.id)


def _newest_raised() -> Subquery:
    of_user = filter_effects.c.user_id == bindparam("of_user")
    return (
        select(filter_effects.c.entry_id)
        .where(of_user, filter_effects.c.action == FilterAction.RAISE, filter_effects.c.at <= bindparam("until"))
        .order_by(filter_effects.c.entry_id.desc())
        .limit(literal_number(MOST_LOOKED_AT))
        .subquery("raised")
    )


async def find_raised(
    db: Database, user_id: int, list_range: ListRange, oldest: str, now: datetime
) -> list[ListPosition]:
    """The entries of a part of an unread list that are not older than `oldest` and were raised by now, in its order."""
    params = list_range.params(user_id, now) | {"oldest": oldest, "until": to_iso(now)}
    rows = await db.query(raised_statement(list_range.kind), params)
    return [ListPosition(row["at"], row["id"]) for row in rows[: list_range.most]]


async def raised_until(db: Database, user_id: int, raised: RaisedRange, order: EntryOrder) -> frozenset[int]:
    """The entries that a list showed first, whether they are still unread or not."""
    params = {"of_user": user_id, "at": raised.last.at, "entry_id": raised.last.entry_id, "until": raised.until}
    return frozenset(row["id"] for row in await db.query(shown_statement(order), params))


@cache
def raised_statement(kind: ListKind) -> Select[Any]:
    raised = _newest_raised()
    in_list = and_(
        unread.c.list_id == UNREAD_LIST_ID,
        unread.c.sort_at == entries.c.sort_at,
        unread.c.entry_id == entries.c.id,
    )
    found = (
        select(entries.c.sort_at.label("at"), entries.c.id)
        .select_from(raised.join(entries, entries.c.id == raised.c.entry_id).join(unread, in_list))
        .where(is_beyond(kind.order, _keys), entries.c.sort_at >= bindparam("oldest"), *_in_scope(kind))
    )
    newest_first = kind.order is EntryOrder.NEWEST
    ordered = found.order_by(*(key.desc() if newest_first else key for key in _keys))
    return ordered.limit(literal_number(kind.size))


def _in_scope(kind: ListKind) -> list[ColumnElement[bool]]:
    which: list[ColumnElement[bool]] = []
    if kind.of_one is not None:
        of_one, own = unread.c.subscription_id == bindparam("subscription_id"), unread.c.subscription_id
        which.append(of_one if kind.of_one else one_of(own, "subscriptions"))
    if kind.labelled:
        labelled = entry_labels.c.label_id == bindparam("label_id")
        which.append(exists().where(labelled, entry_labels.c.entry_id == entries.c.id))
    if kind.stories_once:
        which.append(not_(is_copy(entries.c.id, unread.c.subscription_id, kind.view, kind.of_one, kind.labelled)))
    return which


@cache
def shown_statement(order: EntryOrder) -> Select[Any]:
    raised = _newest_raised()
    found = select(entries.c.id).select_from(raised.join(entries, entries.c.id == raised.c.entry_id))
    return found.where(not_(is_beyond(order, _keys)))
