"""Reads and writes the filters of users."""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from secrets import token_hex
from typing import Any

import msgspec
from sqlalchemy import Column, and_, bindparam, exists, func, or_, select

from feedmill.model.filters.entry_filter import (
    EntryFilter,
    FilterActions,
    FilterDraft,
    FilterKind,
    FilterScope,
    FilterSubject,
    ScopeKind,
)
from feedmill.model.timestamps import iso_or_none, to_iso
from feedmill.store.columns import Id
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert
from feedmill.store.filters.filter_jobs import step_to_end_jobs
from feedmill.store.json_rows import as_rows, json_rows
from feedmill.store.schema import filter_effects, filters, users

_own = and_(filters.c.user_id == bindparam("of_user"), filters.c.deleted_at.is_(None))
_the_filter = and_(_own, filters.c.id == bindparam("of_filter"))
_written = ("name", "query", "scope", "folder_id", "subscription_id", "actions", "stops", "enabled", "expires_at")
_in_order = (filters.c.position, filters.c.id)

OF_USER = select(filters).where(_own).order_by(*_in_order)
ONE = select(filters).where(_the_filter)
ADDED = select(filters).where(_own, filters.c.creation_key == bindparam("creation_key"))
LAST_POSITION = select(func.coalesce(func.max(filters.c.position), 0).label("position")).where(_own)
ADD = insert(filters, "user_id", "kind", *_written, "position", "subject", "created_at", "creation_key")
CHANGE = filters.update().where(_the_filter).values({name: bindparam(f"new_{name}") for name in _written})
_positions = json_rows("positions", Column("of_filter", Id), Column("new_position", Id))
SET_POSITIONS = (
    filters.update().where(_own, filters.c.id == _positions.c.of_filter).values(position=_positions.c.new_position)
)
ENABLE = filters.update().where(_the_filter).values(enabled=bindparam("new_enabled"))
SET_EXPIRY = filters.update().where(_the_filter).values(expires_at=bindparam("new_expires_at"), enabled=1)
DELETE = filters.update().where(_the_filter).values(enabled=0, deleted_at=bindparam("now"))
# Also a deleted one of whose work something is left.
REVERTIBLE = select(filters.c.id).where(
    filters.c.user_id == bindparam("of_user"),
    filters.c.id == bindparam("of_filter"),
    or_(filters.c.deleted_at.is_(None), exists().where(filter_effects.c.filter_id == filters.c.id)),
)
# The filters that processes have cached are out of date.
SET_VERSION = (
    users.update().where(users.c.id == bindparam("of_user")).values(filters_version=bindparam("new_filters_version"))
)
SET_VERSION_FOR_FILTER = SET_VERSION.where(
    exists().where(filters.c.user_id == bindparam("of_user"), filters.c.id == bindparam("of_filter"))
)
PURGE = filters.delete().where(
    filters.c.deleted_at < bindparam("before"), ~exists().where(filter_effects.c.filter_id == filters.c.id)
)


async def filters_of(db: Database, user_id: int) -> list[EntryFilter]:
    """The user's filters of all kinds, in their order."""
    return [to_filter(row) for row in await db.query(OF_USER, {"of_user": user_id})]


async def filter_of(db: Database, user_id: int, filter_id: int) -> EntryFilter | None:
    """The user's filter of that id; None also if it is somebody else's."""
    rows = await db.query(ONE, _key(user_id, filter_id))
    return to_filter(rows[0]) if rows else None


async def add_filter(
    db: Database, user_id: int, kind: FilterKind, draft: FilterDraft, subject: FilterSubject | None, now: datetime
) -> EntryFilter:
    """Adds a filter after the user's others."""
    [last] = await db.query(LAST_POSITION, {"of_user": user_id})
    row = _row(draft) | {
        "user_id": user_id,
        "kind": kind,
        "position": last["position"] + 1,
        "subject": None if subject is None else msgspec.json.encode(subject).decode(),
        "created_at": to_iso(now),
        "creation_key": token_hex(16),
    }
    await db.batch([Step(ADD, row), step_to_set_version(user_id)])
    [added] = await db.query(ADDED, {"of_user": user_id, "creation_key": row["creation_key"]})
    return to_filter(added)


async def save_filter(db: Database, user_id: int, filter_id: int, draft: FilterDraft, now: datetime) -> bool:
    """Saves the filter as it is now, and ends a job that applies it; False when the user has no such filter."""
    row = _key(user_id, filter_id) | {f"new_{name}": value for name, value in _row(draft).items()}
    ended = step_to_end_jobs(user_id, filter_id, ["apply"], now)
    changed, *_ = await db.batch([Step(CHANGE, row), ended, _step_to_set_version_for(user_id, filter_id)])
    return changed == 1


async def can_be_reverted(db: Database, user_id: int, filter_id: int) -> bool:
    """Whether the user has such a filter, or had, and something is left of what it did."""
    return bool(await db.query(REVERTIBLE, _key(user_id, filter_id)))


async def enable_filter(db: Database, user_id: int, filter_id: int, now: datetime, *, enabled: bool) -> bool:
    """Turns it on, or off, which ends a job that applies it; False when the user has no such filter."""
    row = _key(user_id, filter_id) | {"new_enabled": int(enabled)}
    ended = [] if enabled else [step_to_end_jobs(user_id, filter_id, ["apply"], now)]
    changed, *_ = await db.batch([Step(ENABLE, row), *ended, _step_to_set_version_for(user_id, filter_id)])
    return changed == 1


async def set_filter_expiry(db: Database, user_id: int, filter_id: int, until: datetime | None) -> bool:
    """Enables the filter until then; False when the user has no such filter."""
    row = _key(user_id, filter_id) | {"new_expires_at": iso_or_none(until)}
    changed, _ = await db.batch([Step(SET_EXPIRY, row), _step_to_set_version_for(user_id, filter_id)])
    return changed == 1


async def delete_filter(db: Database, user_id: int, filter_id: int, now: datetime) -> bool:
    """Deletes the filter, and ends a job that applies it; False when the user has no such filter."""
    row = _key(user_id, filter_id) | {"now": to_iso(now)}
    ended = step_to_end_jobs(user_id, filter_id, ["apply"], now)
    deleted, *_ = await db.batch([Step(DELETE, row), ended, _step_to_set_version_for(user_id, filter_id)])
    return deleted == 1


async def order_filters(db: Database, user_id: int, filter_ids: Sequence[int]) -> None:
    """Gives the filters these positions, from 1 on."""
    rows = [(id, position) for position, id in enumerate(filter_ids, 1)]
    steps = [Step(SET_POSITIONS, {"of_user": user_id, "positions": some}) for some in as_rows(rows)]
    await db.batch([*steps, step_to_set_version(user_id)])


def step_to_set_version(user_id: int) -> Step:
    """The step that belongs to every change of the user's filters."""
    return Step(SET_VERSION, {"of_user": user_id, "new_filters_version": token_hex(16)})


def _step_to_set_version_for(user_id: int, filter_id: int) -> Step:
    """The same for one filter; it changes nothing when the user has no such filter."""
    return Step(SET_VERSION_FOR_FILTER, _key(user_id, filter_id) | {"new_filters_version": token_hex(16)})


async def purge_deleted_filters(db: Database, before: datetime) -> int:
    """Removes filters that were deleted before then and of whose work nothing is left; how many there were."""
    [purged] = await db.batch([Step(PURGE, {"before": to_iso(before)})])
    return purged


def to_filter(row: Row) -> EntryFilter:
    subject = row["subject"]
    return EntryFilter(
        id=row["id"],
        user_id=row["user_id"],
        kind=FilterKind(row["kind"]),
        name=row["name"],
        condition=row["query"],
        scope=scope_of(row),
        actions=decode_actions(row["actions"]),
        stops=bool(row["stops"]),
        enabled=bool(row["enabled"]),
        position=row["position"],
        subject=None if subject is None else msgspec.json.decode(subject, type=FilterSubject),
        expires_at=row["expires_at"],
        hit_count=row["hit_count"],
        last_hit_at=row["last_hit_at"],
        created_at=row["created_at"],
    )


@lru_cache(maxsize=1024)
def decode_actions(stored: str) -> FilterActions:
    """Cached: many filters do the same."""
    return msgspec.json.decode(stored, type=FilterActions)


def scope_of(row: Row) -> FilterScope:
    kind = ScopeKind(row["scope"])
    id = {ScopeKind.ALL: None, ScopeKind.FOLDER: row["folder_id"], ScopeKind.FEED: row["subscription_id"]}[kind]
    return FilterScope(kind, id)


def _row(draft: FilterDraft) -> dict[str, Any]:
    scope = draft.scope
    return {
        "name": draft.name,
        "query": draft.condition,
        "scope": scope.kind,
        "folder_id": scope.id if scope.kind is ScopeKind.FOLDER else None,
        "subscription_id": scope.id if scope.kind is ScopeKind.FEED else None,
        "actions": msgspec.json.encode(draft.actions).decode(),
        "stops": int(draft.stops),
        "enabled": int(draft.enabled),
        "expires_at": iso_or_none(draft.expires_at),
    }


def _key(user_id: int, filter_id: int) -> dict[str, Any]:
    return {"of_user": user_id, "of_filter": filter_id}
