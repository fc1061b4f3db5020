"""Steps that take back what filters did to entries, as far as the user has not changed it since.

Every statement asks again whether the effect is still there: what the user marks is theirs, and its row is gone.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, exists, select
from sqlalchemy.sql import Executable

from feedmill.model.filters.entry_filter import FilterAction
from feedmill.model.pool import PoolItemState
from feedmill.model.services.save_service import SaveStatus
from feedmill.model.timestamps import to_iso
from feedmill.store.columns import Id, Word
from feedmill.store.database import Step
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.unread_changes import unread_changes
from feedmill.store.schema import (
    entries,
    entry_labels,
    filter_effects,
    pool_groups,
    pool_items,
    service_saves,
    states,
    unread,
)

_effect = filter_effects.c
_of_action = and_(
    _effect.user_id == bindparam("of_user"),
    _effect.action == bindparam("action", type_=Word),
    _effect.target_id == bindparam("target", type_=Id),
    one_of(_effect.entry_id, "ids"),
)
_entry_ids = select(_effect.entry_id).where(_of_action)
# Locked until the batch ends: the user's own marks wait for it or precede it.
LOCK = _entry_ids.order_by(_effect.entry_id).with_for_update()
FORGET = filter_effects.delete().where(_of_action)

_UNREAD = unread_changes(entries.c.id.in_(_entry_ids), (unread.c.entry_id + 0).in_(_entry_ids))
_change = (
    states.update()
    .where(states.c.user_id == bindparam("of_user"), states.c.entry_id.in_(_entry_ids))
    .values(changed_at=bindparam("now"))
)
UNLABEL = entry_labels.delete().where(
    entry_labels.c.label_id == bindparam("target"), entry_labels.c.entry_id.in_(_entry_ids)
)
# Undos of several users wait for one another: otherwise each would leave the item to the other.
LOCK_GROUP = select(pool_groups.c.id).where(pool_groups.c.id == bindparam("target")).with_for_update()
_other = filter_effects.alias("other")
_sent_by_others = exists().where(
    _other.c.user_id != bindparam("of_user"),
    _other.c.action == FilterAction.POOL,
    _other.c.entry_id == pool_items.c.entry_id,
    _other.c.target_id == pool_items.c.group_id,
)
# What was handed out stays handed out.
DROP_FROM_POOL = pool_items.delete().where(
    pool_items.c.group_id == bindparam("target"),
    pool_items.c.entry_id.in_(_entry_ids),
    pool_items.c.status == PoolItemState.AVAILABLE,
    ~_sent_by_others,
)
# What was sent, or is being sent, stays with the service.
DROP_SAVES = service_saves.delete().where(
    service_saves.c.service_id == bindparam("target"),
    service_saves.c.entry_id.in_(_entry_ids),
    service_saves.c.status == SaveStatus.PENDING,
    service_saves.c.attempts == 0,
    service_saves.c.claim_token.is_(None),
)
UNDO: dict[FilterAction, tuple[Executable, ...]] = {
    FilterAction.READ: (*_UNREAD.to_add, _change.values(read_at=None)),
    FilterAction.HIDE: (*_UNREAD.to_add, _change),
    FilterAction.STAR: (_change.values(starred_at=None),),
    FilterAction.LATER: (_change.values(later_at=None, later_until=None),),
    FilterAction.LABEL: (UNLABEL, _change),
    FilterAction.POOL: (LOCK_GROUP, DROP_FROM_POOL),
    FilterAction.SAVE: (DROP_SAVES,),
    FilterAction.RAISE: (),
}


class EffectKey(NamedTuple):
    """One effect on one entry; `target_id` is the label, the pool group or the service, else 0."""

    entry_id: int
    action: FilterAction
    target_id: int = 0


def steps_to_undo(user_id: int, effects: Sequence[EffectKey], now: datetime) -> list[Step]:
    """The steps that take back these effects and forget them; those of lasting actions are only forgotten."""
    by_action: dict[tuple[FilterAction, int], list[int]] = {}
    for effect in effects:
        by_action.setdefault((effect.action, effect.target_id), []).append(effect.entry_id)
    return [step for key, ids in sorted(by_action.items()) for step in _steps(user_id, *key, ids, now)]


def _steps(user_id: int, action: FilterAction, target_id: int, ids: Sequence[int], now: datetime) -> list[Step]:
    params: dict[str, Any] = {
        "of_user": user_id,
        "action": action,
        "target": target_id,
        "ids": as_list(sorted(ids)),
        "now": to_iso(now),
    }
    return [Step(statement, params) for statement in (LOCK, *UNDO.get(action, ()), FORGET)]
