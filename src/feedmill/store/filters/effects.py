"""Reads what filters matched and did."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Integer, and_, bindparam, func, or_, select

from feedmill.model.filters.entry_filter import FilterAction, FilterKind
from feedmill.model.filters.filter_history import FilterEffect
from feedmill.store.columns import Id
from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, one_of
from feedmill.store.filters.undo_effects import EffectKey
from feedmill.store.schema import filter_effects, filter_hits, filters, labels, pool_groups, services

_effect = filter_effects.c
_own = _effect.user_id == bindparam("of_user")
OF_ENTRIES = (
    select(
        _effect.entry_id,
        _effect.action,
        _effect.target_id,
        func.coalesce(labels.c.name, pool_groups.c.name, services.c.name).label("target_name"),
        _effect.filter_id,
        filters.c.name.label("filter_name"),
        filters.c.kind.label("filter_kind"),
        filters.c.deleted_at,
        _effect.at,
    )
    .select_from(
        filter_effects.join(filters, filters.c.id == _effect.filter_id)
        .outerjoin(labels, and_(labels.c.id == _effect.target_id, _effect.action == FilterAction.LABEL))
        .outerjoin(pool_groups, and_(pool_groups.c.id == _effect.target_id, _effect.action == FilterAction.POOL))
        .outerjoin(services, and_(services.c.id == _effect.target_id, _effect.action == FilterAction.SAVE))
    )
    .where(_own, one_of(_effect.entry_id, "ids"))
    .order_by(_effect.at, _effect.action, _effect.target_id)
)
HITS = (
    select(filter_hits.c.entry_id, filter_hits.c.at)
    .join(filters, filters.c.id == filter_hits.c.filter_id)
    .where(
        filter_hits.c.filter_id == bindparam("of_filter"),
        filters.c.user_id == bindparam("of_user"),
        filter_hits.c.entry_id < bindparam("before"),
    )
    .order_by(filter_hits.c.entry_id.desc())
    .limit(bindparam("most", type_=Integer))
)


_of_job = (
    _own,
    _effect.filter_id == bindparam("of_filter"),
    or_(bindparam("job", type_=Id).is_(None), _effect.job_id == bindparam("job", type_=Id)),
    # Not by time: the clocks of two machines differ.
    or_(_effect.job_id.is_(None), _effect.job_id < bindparam("before_job", type_=Id)),
    or_(bindparam("last", type_=Id).is_(None), _effect.entry_id <= bindparam("last", type_=Id)),
)
# Of the entries from `first` on, so that those of other jobs are not read again and again.
NEXT = (
    select(_effect.entry_id, _effect.action, _effect.target_id)
    .where(*_of_job, _effect.entry_id >= bindparam("first"))
    .order_by(_effect.entry_id)
    .limit(bindparam("most", type_=Integer))
)
COUNT = select(
    func.count(_effect.entry_id.distinct()).label("number"), func.max(_effect.entry_id).label("last_id")
).where(*_of_job)


class StoredHit(NamedTuple):
    """An entry that a filter matched, and when."""

    entry_id: int
    at: str


async def effects_of_entries(db: Database, user_id: int, entry_ids: Sequence[int]) -> list[FilterEffect]:
    """What the user's filters did to these entries, in the order of time."""
    rows = await db.query(OF_ENTRIES, {"of_user": user_id, "ids": as_list(list(entry_ids))})
    return [_to_effect(row) for row in rows]


async def hits_of_filter(db: Database, user_id: int, filter_id: int, before: int, most: int) -> list[StoredHit]:
    """The entries with ids below `before` that the user's filter matched, the newest first."""
    params = {"of_user": user_id, "of_filter": filter_id, "before": before, "most": most}
    return [StoredHit(row["entry_id"], row["at"]) for row in await db.query(HITS, params)]


class EffectsToUndo(NamedTuple):
    """The effects of a filter; those of one job alone, and on entries up to one, if these are given.

    Those of jobs that were started after `before_job`, which takes them back, are left out.
    """

    user_id: int
    filter_id: int
    before_job: int
    job_id: int | None = None
    last_entry_id: int | None = None


class AffectedEntries(NamedTuple):
    """How many entries have effects, and the newest of them; 0 without any."""

    number: int
    last_id: int


async def next_effects(db: Database, wanted: EffectsToUndo, first_entry_id: int, most: int) -> list[EffectKey]:
    """The next effects by entry, from an entry on."""
    rows = await db.query(NEXT, _params(wanted) | {"first": first_entry_id, "most": most})
    return [EffectKey(row["entry_id"], FilterAction(row["action"]), row["target_id"]) for row in rows]


async def count_affected_entries(db: Database, wanted: EffectsToUndo) -> AffectedEntries:
    [row] = await db.query(COUNT, _params(wanted))
    return AffectedEntries(int(row["number"]), int(row["last_id"] or 0))


def _params(wanted: EffectsToUndo) -> dict[str, Any]:
    return {
        "of_user": wanted.user_id,
        "of_filter": wanted.filter_id,
        "before_job": wanted.before_job,
        "job": wanted.job_id,
        "last": wanted.last_entry_id,
    }


def _to_effect(row: Row) -> FilterEffect:
    return FilterEffect(
        entry_id=row["entry_id"],
        action=FilterAction(row["action"]),
        target_id=row["target_id"],
        target_name=row["target_name"],
        filter_id=row["filter_id"],
        filter_name=row["filter_name"],
        filter_kind=FilterKind(row["filter_kind"]),
        is_deleted=row["deleted_at"] is not None,
        at=row["at"],
    )
