"""Steps that apply the actions of a filter to stored entries, and record what they changed.

Each action first records the entries that it changes, then changes those that it has recorded. A notification is not
sent: nobody wants one for each entry of years.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, String, bindparam, exists, func, literal, select
from sqlalchemy.sql import Executable

from feedmill.model.filters.entry_filter import FilterAction
from feedmill.model.timestamps import to_iso
from feedmill.store.columns import Id, Word
from feedmill.store.database import Step
from feedmill.store.dialect import InsertNew, as_list, insert_selected, one_of
from feedmill.store.entries.unread_changes import unread_changes
from feedmill.store.filters.effect_conditions import POOL_TEXTS, effect_conditions
from feedmill.store.pools.gather_entries import batch_number
from feedmill.store.schema import (
    entries,
    entry_labels,
    filter_effects,
    filter_hits,
    filters,
    full_text_tasks,
    pool_groups,
    pool_items,
    service_saves,
    services,
    states,
    unread,
)

_chosen = one_of(entries.c.id, "ids")
_of_filter = filters.c.id == bindparam("of_filter")
_at = bindparam("at", type_=String)
_known_hit = exists().where(filter_hits.c.filter_id == bindparam("of_filter"), filter_hits.c.entry_id == entries.c.id)
_new_hits = select(func.count()).select_from(entries).where(_chosen, ~_known_hit).scalar_subquery()
COUNT_HITS = (
    filters.update().where(_of_filter).values(hit_count=filters.c.hit_count + _new_hits, last_hit_at=bindparam("at"))
)
HITS = insert_selected(
    filter_hits, select(filters.c.id.label("a"), entries.c.id.label("b"), _at.label("c")).where(_of_filter, _chosen)
)
_target: BindParameter[int] = bindparam("target", type_=Id)
_effects = select(
    filters.c.user_id.label("a"),
    bindparam("action", type_=String).label("b"),
    entries.c.id.label("c"),
    _target.label("d"),
    filters.c.id.label("e"),
    bindparam("job", type_=Id).label("f"),
    _at.label("g"),
).where(_of_filter, _chosen)
EFFECTS = {
    action: insert_selected(filter_effects, _effects.where(changes))
    for action, changes in effect_conditions(_target).items()
    if action is not FilterAction.NOTIFY
}

_done = filter_effects.c
_entry_ids = select(_done.entry_id).where(
    _done.user_id == bindparam("of_user"),
    _done.action == bindparam("action", type_=Word),
    _done.target_id == bindparam("target", type_=Id),
    _done.filter_id == bindparam("of_filter"),
    _done.at == bindparam("at"),
    one_of(_done.entry_id, "ids"),
)
_is_changed = entries.c.id.in_(_entry_ids)
_UNREAD = unread_changes(_is_changed, (unread.c.entry_id + 0).in_(_entry_ids))
ADD_STATES = InsertNew(states).from_select(
    ["user_id", "entry_id"], select(bindparam("of_user", type_=Id), entries.c.id).where(_is_changed)
)
_change = (
    states.update()
    .where(states.c.user_id == bindparam("of_user"), states.c.entry_id.in_(_entry_ids))
    .values(changed_at=bindparam("at"))
)
LABEL = insert_selected(
    entry_labels,
    select(bindparam("target", type_=Id).label("a"), entries.c.id.label("b"), entries.c.sort_at.label("c")).where(
        _is_changed
    ),
)
QUEUE_FULL_TEXTS = InsertNew(full_text_tasks).from_select(
    ["entry_id", "next_attempt_at"], select(entries.c.id, _at).where(_is_changed)
)
LOCK_GROUP = select(pool_groups.c.id).where(pool_groups.c.id == bindparam("target")).with_for_update(read=True)
LOCK_SERVICE = select(services.c.id).where(services.c.id == bindparam("target")).with_for_update(read=True)
ADD_TO_POOLS = tuple(
    InsertNew(pool_items).from_select(
        ["group_id", "kind", "entry_id", "batch_id", "changed_at"],
        select(bindparam("target", type_=Id), literal(str(kind)), entries.c.id, batch_number, _at).where(
            _is_changed, func.trim(text) != ""
        ),
    )
    for kind, text in POOL_TEXTS.items()
)
QUEUE_SAVES = insert_selected(
    service_saves,
    select(services.c.id.label("a"), entries.c.id.label("b"), _at.label("c"), _at.label("d"))
    .select_from(services.join(entries, _is_changed))
    .where(services.c.id == bindparam("target", type_=Id)),
    "service_id",
    "entry_id",
    "next_attempt_at",
    "created_at",
)
APPLY: dict[FilterAction, tuple[Executable, ...]] = {
    FilterAction.READ: (*_UNREAD.to_drop, ADD_STATES, _change.values(read_at=bindparam("at"))),
    FilterAction.HIDE: _UNREAD.to_drop,
    FilterAction.STAR: (ADD_STATES, _change.values(starred_at=bindparam("at"))),
    FilterAction.LATER: (
        ADD_STATES,
        _change.values(later_at=bindparam("at"), later_until=bindparam("later_until")),
    ),
    FilterAction.LABEL: (LABEL, ADD_STATES, _change),
    FilterAction.POOL: (LOCK_GROUP, *ADD_TO_POOLS),
    FilterAction.SAVE: (LOCK_SERVICE, QUEUE_SAVES),
    FilterAction.FULL_TEXT: (QUEUE_FULL_TEXTS,),
    FilterAction.RAISE: (),
}


class StoredMatches(NamedTuple):
    """Stored entries that a filter matched. `job_id`: the job that applies it; None: a new subscription."""

    filter_id: int
    user_id: int
    entry_ids: Sequence[int]
    job_id: int | None = None


def steps_to_apply(
    matches: StoredMatches, changes: Sequence[tuple[FilterAction, int]], now: datetime, later_until: datetime
) -> list[Step]:
    """Records the matches and applies these actions; what an action does not change is left alone."""
    if not matches.entry_ids:
        return []
    params: dict[str, Any] = {
        "of_filter": matches.filter_id,
        "of_user": matches.user_id,
        "ids": as_list(sorted(matches.entry_ids)),
        "job": matches.job_id,
        "at": to_iso(now),
        "later_until": to_iso(later_until),
    }
    steps = [Step(COUNT_HITS, params), Step(HITS, params)]
    for action, target_id in changes:
        if action in EFFECTS:
            of_action = params | {"action": action, "target": target_id}
            steps += [Step(statement, of_action) for statement in (EFFECTS[action], *APPLY[action])]
    return steps
