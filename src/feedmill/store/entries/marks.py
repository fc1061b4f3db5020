"""Marks entries as read, starred, read later or labelled, in one batch."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, bindparam, func, select

from feedmill.model.entry_marks import EntryMarks
from feedmill.model.timestamps import to_iso
from feedmill.store.columns import Id
from feedmill.store.database import Database, Step
from feedmill.store.dialect import InsertNew, as_list, insert_selected, one_of
from feedmill.store.entries.labels import steps_to_label, steps_to_unlabel
from feedmill.store.entries.unread_list_sql import UNREAD_LIST_ID, of_user
from feedmill.store.schema import entries, states, subscriptions, unread

# More than a person reads between two requests: marks of so many have one time.
MOST_IN_ORDER = 100
_chosen = one_of(entries.c.id, "ids")
_own_states = and_(states.c.user_id == bindparam("of_user"), one_of(states.c.entry_id, "ids"))
INSERT = InsertNew(states).from_select(
    ["user_id", "entry_id"], select(bindparam("of_user", type_=Id), entries.c.id).where(_chosen)
)
# Every statement notes the time, for programs that ask what changed.
_change = states.update().where(_own_states).values(changed_at=bindparam("now"))
READ = _change.values(read_at=func.coalesce(states.c.read_at, bindparam("now")))
NOT_READ = _change.values(read_at=None)
STAR = _change.values(starred_at=func.coalesce(states.c.starred_at, bindparam("now")))
NO_STAR = _change.values(starred_at=None)
LATER = _change.values(later_at=func.coalesce(states.c.later_at, bindparam("now")), later_until=bindparam("until"))
NOT_LATER = _change.values(later_at=None, later_until=None)
LABELS_CHANGED = _change

# --- unread list and counts --------------------------------------------------------------------------------

LOCK = (
    select(subscriptions.c.id)
    .where(of_user, subscriptions.c.feed_id.in_(select(entries.c.feed_id).where(_chosen)))
    .order_by(subscriptions.c.id)
    .with_for_update()
)
_unread_row = and_(
    unread.c.list_id == UNREAD_LIST_ID, unread.c.sort_at == entries.c.sort_at, unread.c.entry_id == entries.c.id
)
_leaving = (
    select(unread.c.subscription_id.label("of_subscription"), func.count().label("n"))
    .select_from(entries.join(unread, _unread_row))
    .where(_chosen)
    .group_by(unread.c.subscription_id)
    .subquery("leaving")
)
UNCOUNT = (
    subscriptions.update()
    .where(subscriptions.c.id == _leaving.c.of_subscription)
    .values(unread_count=subscriptions.c.unread_count - _leaving.c.n)
)
# By the primary key, because there is no index by entry. The + 0 keeps SQLite from probing every pair of time and
# entry.
DROP_UNREAD = unread.delete().where(
    unread.c.list_id == UNREAD_LIST_ID,
    unread.c.sort_at.in_(select(entries.c.sort_at).where(_chosen)),
    one_of(unread.c.entry_id + 0, "ids"),
)
_reader = subscriptions.alias("reader")
_absent = entries.join(
    _reader, and_(_reader.c.feed_id == entries.c.feed_id, _reader.c.user_id == bindparam("of_user"))
).outerjoin(unread, _unread_row)
_is_absent = and_(_chosen, unread.c.entry_id.is_(None))
_coming = (
    select(_reader.c.id.label("of_subscription"), func.count().label("n"))
    .select_from(_absent)
    .where(_is_absent)
    .group_by(_reader.c.id)
    .subquery("coming")
)
COUNT = (
    subscriptions.update()
    .where(subscriptions.c.id == _coming.c.of_subscription)
    .values(unread_count=subscriptions.c.unread_count + _coming.c.n)
)
ADD_UNREAD = insert_selected(
    unread,
    select(UNREAD_LIST_ID.label("a"), entries.c.sort_at.label("b"), entries.c.id.label("c"), _reader.c.id.label("d"))
    .select_from(_absent)
    .where(_is_absent),
)


def steps_to_mark(
    user_id: int, ids: Sequence[int], marks: EntryMarks, now: datetime, later_for: timedelta
) -> list[Step]:
    """The steps that apply `marks`, to entries in the order of reading; applying them again changes nothing."""
    until = marks.later if isinstance(marks.later, datetime) else now + later_for
    params = {"of_user": user_id, "ids": as_list(list(ids)), "now": to_iso(now), "until": to_iso(until)}
    statements: list[Any] = [
        INSERT,
        *_if_set(marks.read, [LOCK, UNCOUNT, DROP_UNREAD, READ], [LOCK, COUNT, ADD_UNREAD, NOT_READ]),
        *_if_set(marks.starred, [STAR], [NO_STAR]),
        *_if_set(None if marks.later is None else bool(marks.later), [LATER], [NOT_LATER]),
        *([LABELS_CHANGED] if marks.add_labels or marks.remove_labels else []),
    ]
    return [
        *(Step(statement, _in_order(params, ids, now) if statement is READ else params) for statement in statements),
        *steps_to_label(user_id, ids, marks.add_labels),
        *steps_to_unlabel(user_id, ids, marks.remove_labels),
    ]


def _in_order(params: dict[str, Any], ids: Sequence[int], now: datetime) -> Any:
    """The parameters of `READ` for each entry, a millisecond apart, so that the history has the order of `ids`."""
    if len(ids) > MOST_IN_ORDER:
        return params
    moments = [to_iso(now + timedelta(milliseconds=place)) for place in range(len(ids))]
    return [params | {"ids": as_list([id]), "now": at} for id, at in zip(ids, moments, strict=True)]


def _if_set(value: bool | None, yes: list[Any], no: list[Any]) -> list[Any]:
    return [] if value is None else yes if value else no


# --- expiry of read later ----------------------------------------------------------------------------------

EXPIRE = (
    states.update()
    .where(states.c.later_until <= bindparam("now"))
    .values(later_at=None, later_until=None, changed_at=bindparam("now"))
)


async def expire_read_later(db: Database, now: datetime) -> int:
    """Removes expired read-later marks; how many there were."""
    [ended] = await db.batch([Step(EXPIRE, {"now": to_iso(now)})])
    return ended
