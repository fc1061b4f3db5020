"""The statements that take chosen entries from a user's unread list or put them into it, with the counts."""

from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, func, select
from sqlalchemy.sql import Executable

from feedmill.store.dialect import insert_selected
from feedmill.store.entries.unread_list_sql import UNREAD_LIST_ID, of_user
from feedmill.store.schema import entries, subscriptions, unread

Condition = ColumnElement[bool]


class UnreadChanges(NamedTuple):
    """The statements in their order."""

    to_drop: tuple[Executable, ...]
    to_add: tuple[Executable, ...]


_unread_row = and_(
    unread.c.list_id == UNREAD_LIST_ID, unread.c.sort_at == entries.c.sort_at, unread.c.entry_id == entries.c.id
)
_reader = subscriptions.alias("reader")
_absent = entries.join(
    _reader, and_(_reader.c.feed_id == entries.c.feed_id, _reader.c.user_id == bindparam("of_user"))
).outerjoin(unread, _unread_row)


def unread_changes(chosen: Condition, is_chosen_row: Condition) -> UnreadChanges:
    """The statements for the entries of `chosen`; `is_chosen_row` is the same condition on rows of the list.

    There is no index by entry, so rows are found by their primary key. The condition on rows should have a `+ 0`, which
    keeps SQLite from probing every pair of time and entry.
    """
    lock = (
        select(subscriptions.c.id)
        .where(of_user, subscriptions.c.feed_id.in_(select(entries.c.feed_id).where(chosen)))
        .order_by(subscriptions.c.id)
        .with_for_update()
    )
    leaving = (
        select(unread.c.subscription_id.label("of_subscription"), func.count().label("n"))
        .select_from(entries.join(unread, _unread_row))
        .where(chosen)
        .group_by(unread.c.subscription_id)
        .subquery("leaving")
    )
    uncount = (
        subscriptions.update()
        .where(subscriptions.c.id == leaving.c.of_subscription)
        .values(unread_count=subscriptions.c.unread_count - leaving.c.n)
    )
    drop = unread.delete().where(
        unread.c.list_id == UNREAD_LIST_ID,
        unread.c.sort_at.in_(select(entries.c.sort_at).where(chosen)),
        is_chosen_row,
    )
    return UnreadChanges((lock, uncount, drop), (lock, *_to_add(chosen)))


def _to_add(chosen: Condition) -> tuple[Executable, Executable]:
    is_absent = and_(chosen, unread.c.entry_id.is_(None))
    coming = (
        select(_reader.c.id.label("of_subscription"), func.count().label("n"))
        .select_from(_absent)
        .where(is_absent)
        .group_by(_reader.c.id)
        .subquery("coming")
    )
    count = (
        subscriptions.update()
        .where(subscriptions.c.id == coming.c.of_subscription)
        .values(unread_count=subscriptions.c.unread_count + coming.c.n)
    )
    columns = (
        UNREAD_LIST_ID.label("a"),
        entries.c.sort_at.label("b"),
        entries.c.id.label("c"),
        _reader.c.id.label("d"),
    )
    return count, insert_selected(unread, select(*columns).select_from(_absent).where(is_absent))
