"""Steps that record what filters matched among the new entries of a refresh, and do what they say.

They follow the steps that add the entries and their unread rows. There are as many of them for two filters as for many.
First come the rows of the filters, which are locked: a user who is deleted meanwhile is no error.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Column, String, and_, bindparam, case, func, literal, or_, select
from sqlalchemy.sql import Executable

from feedmill.model.filters.entry_filter import FilterAction
from feedmill.model.timestamps import to_iso
from feedmill.store.columns import Id, Word, exact_text
from feedmill.store.database import Step
from feedmill.store.dialect import InsertNew, as_list, insert_selected, one_of
from feedmill.store.entries.full_texts import steps_to_queue_full_texts
from feedmill.store.filters.apply_filters import steps_to_block_entries
from feedmill.store.filters.effect_conditions import POOL_TEXTS, effect_conditions
from feedmill.store.json_rows import as_rows, json_rows
from feedmill.store.notifications import notification_queue
from feedmill.store.pools.gather_entries import LOCK_GROUPS, batch_number
from feedmill.store.schema import (
    entries,
    entry_labels,
    filter_effects,
    filter_hits,
    filters,
    pool_items,
    service_saves,
    services,
    states,
)
from feedmill.store.services.saves import LOCK_SERVICES
from feedmill.store.webhooks.delivery_queue import steps_to_queue_matches

_new_entries = (entries.c.feed_id == bindparam("feed"), one_of(entries.c.guid, "guids"))
_at = bindparam("at", type_=String)
_hits = json_rows("hits", Column("filter_id", Id), Column("guid", exact_text(512)))
# In one order: two refreshes may match the same filters.
LOCK_FILTERS = select(filters.c.id).where(one_of(filters.c.id, "filters")).order_by(filters.c.id).with_for_update()
_numbers = (
    select(_hits.c.filter_id.label("of_filter"), func.count().label("n"))
    .group_by(_hits.c.filter_id)
    .subquery("numbers")
)
COUNT_HITS = (
    filters.update()
    .where(filters.c.id == _numbers.c.of_filter)
    .values(hit_count=filters.c.hit_count + _numbers.c.n, last_hit_at=bindparam("at"))
)
HITS = insert_selected(
    filter_hits,
    select(filters.c.id.label("a"), entries.c.id.label("b"), _at.label("c"))
    .select_from(_hits.join(filters, filters.c.id == _hits.c.filter_id))
    .join(entries, and_(entries.c.feed_id == bindparam("feed"), entries.c.guid == _hits.c.guid)),
)
_effects = json_rows(
    "effects", Column("filter_id", Id), Column("guid", exact_text(512)), Column("action", Word), Column("target_id", Id)
)
_new_effects = (
    select(
        filters.c.user_id.label("a"),
        _effects.c.action.label("b"),
        entries.c.id.label("c"),
        _effects.c.target_id.label("d"),
        filters.c.id.label("e"),
        literal(None, Id).label("f"),
        _at.label("g"),
    )
    .select_from(_effects.join(filters, filters.c.id == _effects.c.filter_id))
    .join(entries, and_(entries.c.feed_id == bindparam("feed"), entries.c.guid == _effects.c.guid))
)
# Nobody has read or marked a new entry yet, so most actions change it in any case. Others depend on something else:
# whether the label or service is still there, the right to fill the pool, a link.
EFFECTS = insert_selected(filter_effects, _new_effects)
CONDITIONAL_EFFECTS: dict[FilterAction, InsertNew] = {
    action: insert_selected(filter_effects, _new_effects.where(changes))
    for action, changes in effect_conditions(_effects.c.target_id).items()
    if action in (FilterAction.LABEL, FilterAction.POOL, FilterAction.SAVE, FilterAction.FULL_TEXT)
}

_done = filter_effects.c
_of_new_entries = select(_done.user_id, _done.entry_id).join(entries, entries.c.id == _done.entry_id)


def _when(action: FilterAction) -> Any:
    return func.max(case((_done.action == action, _done.at)))


MARKS = (FilterAction.READ, FilterAction.STAR, FilterAction.LATER)
# One row for all marks of an entry. Nobody has a state of a new entry.
MARK = InsertNew(states).from_select(
    ["user_id", "entry_id", "read_at", "starred_at", "later_at", "later_until", "changed_at"],
    _of_new_entries.add_columns(
        *map(_when, MARKS),
        func.max(case((_done.action == FilterAction.LATER, bindparam("later_until", type_=String)))),
        func.max(_done.at),
    )
    .where(*_new_entries, or_(*(_done.action == action for action in MARKS)))
    .group_by(_done.user_id, _done.entry_id),
)
LABEL = insert_selected(
    entry_labels,
    select(_done.target_id.label("a"), entries.c.id.label("b"), entries.c.sort_at.label("c"))
    .join(entries, entries.c.id == _done.entry_id)
    .where(*_new_entries, _done.action == FilterAction.LABEL),
)
ADD_TO_POOLS = tuple(
    InsertNew(pool_items).from_select(
        ["group_id", "kind", "entry_id", "batch_id", "changed_at"],
        select(_done.target_id, literal(str(kind)), entries.c.id, batch_number, _at)
        .join(entries, entries.c.id == _done.entry_id)
        .where(*_new_entries, _done.action == FilterAction.POOL, func.trim(text) != ""),
    )
    for kind, text in POOL_TEXTS.items()
)

QUEUE_SAVES = insert_selected(
    service_saves,
    select(services.c.id.label("a"), entries.c.id.label("b"), _at.label("c"), _at.label("d"))
    .select_from(filter_effects.join(entries, entries.c.id == _done.entry_id))
    .join(services, services.c.id == _done.target_id)
    .where(*_new_entries, _done.action == FilterAction.SAVE),
    "service_id",
    "entry_id",
    "next_attempt_at",
    "created_at",
)


class MatchedFilter(NamedTuple):
    """The new entries, by guid, that a filter matched, and those that each of its actions changes."""

    filter_id: int
    user_id: int
    subscription_id: int
    guids: Sequence[str]
    changes: Mapping[tuple[FilterAction, int], Sequence[str]]


def steps_to_record_matches(
    feed_id: int, refresh_token: str, matched: Sequence[MatchedFilter], now: datetime, later_until: datetime
) -> list[Step]:
    """Records the matches and applies the actions of the filters to new entries."""
    if not matched:
        return []
    same = {"feed": feed_id, "at": to_iso(now)}
    return [
        *_steps_to_record(same, sorted(matched)),
        *_steps_to_mark(same | {"later_until": to_iso(later_until)}, matched),
        *_steps_to_hide(feed_id, matched),
        *_steps_to_label(same, matched),
        *_steps_to_fill_pools(same, matched),
        *_steps_to_save(same, matched),
        *steps_to_queue_full_texts(feed_id, _guids(matched, FilterAction.FULL_TEXT), now),
        *steps_to_queue_matches(_users(matched, FilterAction.NOTIFY), feed_id, refresh_token, now),
        *notification_queue.steps_to_queue_matches(_users(matched, FilterAction.NOTIFY), feed_id, refresh_token, now),
    ]


def _steps_to_record(same: Mapping[str, Any], matched: Sequence[MatchedFilter]) -> list[Step]:
    hits = [(each.filter_id, guid) for each in matched for guid in each.guids]
    by_statement: dict[Executable, list[tuple[int, str, str, int]]] = {}
    for each in matched:
        for (action, target_id), guids in each.changes.items():
            rows = by_statement.setdefault(CONDITIONAL_EFFECTS.get(action, EFFECTS), [])
            rows += [(each.filter_id, guid, str(action), target_id) for guid in guids]
    ids = [each.filter_id for each in matched]
    return [
        *([Step(LOCK_FILTERS, {"filters": as_list(ids)})] if len(ids) > 1 else []),
        *(Step(statement, {**same, "hits": some}) for some in as_rows(hits) for statement in (COUNT_HITS, HITS)),
        *(
            Step(statement, {**same, "effects": some})
            for statement, effects in by_statement.items()
            for some in as_rows(effects)
        ),
    ]


def _steps_to_mark(same: Mapping[str, Any], matched: Sequence[MatchedFilter]) -> list[Step]:
    guids = _guids(matched, *MARKS)
    return [Step(MARK, {**same, "guids": as_list(guids)})] if guids else []


def _steps_to_hide(feed_id: int, matched: Sequence[MatchedFilter]) -> list[Step]:
    """Takes what is read or hidden from the unread lists of all users."""
    hidden: dict[int, set[str]] = {}
    for each in matched:
        hidden.setdefault(each.subscription_id, set()).update(_guids([each], FilterAction.READ, FilterAction.HIDE))
    return steps_to_block_entries(feed_id, hidden)


def _steps_to_label(same: Mapping[str, Any], matched: Sequence[MatchedFilter]) -> list[Step]:
    guids = _guids(matched, FilterAction.LABEL)
    return [Step(LABEL, {**same, "guids": as_list(guids)})] if guids else []


def _steps_to_fill_pools(same: Mapping[str, Any], matched: Sequence[MatchedFilter]) -> list[Step]:
    guids = _guids(matched, FilterAction.POOL)
    if not guids:
        return []
    row = {**same, "guids": as_list(guids)}
    return [
        Step(LOCK_GROUPS, {"groups": as_list(_targets(matched, FilterAction.POOL))}),
        *(Step(add, row) for add in ADD_TO_POOLS),
    ]


def _steps_to_save(same: Mapping[str, Any], matched: Sequence[MatchedFilter]) -> list[Step]:
    guids = _guids(matched, FilterAction.SAVE)
    if not guids:
        return []
    return [
        Step(LOCK_SERVICES, {"services": as_list(_targets(matched, FilterAction.SAVE))}),
        Step(QUEUE_SAVES, {**same, "guids": as_list(guids)}),
    ]


def _guids(matched: Iterable[MatchedFilter], *actions: FilterAction) -> list[str]:
    """The entries that one of these actions changes."""
    changes = [change for each in matched for change in each.changes.items()]
    return sorted({guid for (action, _), guids in changes if action in actions for guid in guids})


def _targets(matched: Iterable[MatchedFilter], action: FilterAction) -> list[int]:
    return sorted({id for each in matched for found, id in each.changes if found is action})


def _users(matched: Iterable[MatchedFilter], action: FilterAction) -> list[int]:
    return sorted({each.user_id for each in matched if (action, 0) in each.changes})
