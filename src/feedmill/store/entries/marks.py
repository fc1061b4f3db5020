"""Marks entries as read, starred, read later or labelled, in one batch."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, bindparam, func, select

from feedmill.model.entry_marks import EntryMarks
from feedmill.model.filters.entry_filter import FilterAction
from feedmill.model.timestamps import to_iso
from feedmill.store.columns import Id
from feedmill.store.database import Database, Step
from feedmill.store.dialect import InsertNew, as_list, one_of
from feedmill.store.entries.labels import steps_to_label, steps_to_unlabel
from feedmill.store.entries.unread_changes import unread_changes
from feedmill.store.schema import entries, filter_effects, states, unread

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
CHANGED = _change

# What a user marks is theirs: no undo of a filter touches it any more.
TAKE_OVER = filter_effects.delete().where(
    filter_effects.c.user_id == bindparam("of_user"),
    one_of(filter_effects.c.action, "actions"),
    one_of(filter_effects.c.entry_id, "ids"),
)
TAKE_OVER_LABELS = TAKE_OVER.where(one_of(filter_effects.c.target_id, "label_ids"))
_UNREAD = unread_changes(_chosen, one_of(unread.c.entry_id + 0, "ids"))


def steps_to_mark(
    user_id: int, ids: Sequence[int], marks: EntryMarks, now: datetime, later_for: timedelta
) -> list[Step]:
    """The steps that apply `marks`, to entries in the order of reading; applying them again changes nothing."""
    until = marks.later if isinstance(marks.later, datetime) else now + later_for
    params = {"of_user": user_id, "ids": as_list(list(ids)), "now": to_iso(now), "until": to_iso(until)}
    statements: list[Any] = [
        INSERT,
        *_if_set(marks.read, [*_UNREAD.to_drop, READ], [*_UNREAD.to_add, NOT_READ]),
        *_if_set(marks.starred, [STAR], [NO_STAR]),
        *_if_set(None if marks.later is None else bool(marks.later), [LATER], [NOT_LATER]),
        *([CHANGED] if marks.add_labels or marks.remove_labels else []),
    ]
    return [
        *_steps_to_take_over(params, marks),
        *(Step(statement, _in_order(params, ids, now) if statement is READ else params) for statement in statements),
        *steps_to_label(user_id, ids, marks.add_labels),
        *steps_to_unlabel(user_id, ids, marks.remove_labels),
    ]


def _steps_to_take_over(params: dict[str, Any], marks: EntryMarks) -> list[Step]:
    """Forgets that filters made the marks that the user sets or removes now."""
    kinds: tuple[tuple[object, tuple[FilterAction, ...]], ...] = (
        (marks.read, (FilterAction.READ, FilterAction.HIDE)),
        (marks.starred, (FilterAction.STAR,)),
        (marks.later, (FilterAction.LATER,)),
    )
    actions = [str(action) for value, some in kinds if value is not None for action in some]
    label_ids = [*marks.add_labels, *marks.remove_labels]
    labels = {"actions": as_list([str(FilterAction.LABEL)]), "label_ids": as_list(label_ids)}
    return [
        *([Step(TAKE_OVER, params | {"actions": as_list(actions)})] if actions else []),
        *([Step(TAKE_OVER_LABELS, params | labels)] if label_ids else []),
    ]


def steps_to_read_copies(user_id: int, ids: Sequence[int], now: datetime) -> list[Step]:
    """The steps that make these entries read because others of their stories are; the history has only those."""
    params = {"of_user": user_id, "ids": as_list(list(ids)), "now": to_iso(now)}
    return [Step(statement, params) for statement in (INSERT, *_UNREAD.to_drop, CHANGED)] if ids else []


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
