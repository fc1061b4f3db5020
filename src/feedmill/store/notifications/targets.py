"""Adds, reads, changes and removes notification targets."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import bindparam, func, select

from feedmill.i18n.messages import message_or_none
from feedmill.model.encrypted import Encrypted
from feedmill.model.notifications.notification_target import (
    DigestPeriod,
    NotificationEvent,
    NotificationTarget,
    TargetSettings,
)
from feedmill.model.timestamps import datetime_or_none, from_iso, iso_or_none, to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, insert, insert_selected, one_of
from feedmill.store.schema import entries, notification_targets, notifications, saved_searches, watched_searches

_of = notification_targets.c
_owner = _of.user_id == bindparam("owner")
_of_owner = (_of.id == bindparam("target"), _owner)
_waiting = (
    select(func.count()).where(notifications.c.target_id == _of.id).correlate(notification_targets).scalar_subquery()
)
_read = select(notification_targets, _waiting.label("waiting"))

ADD = insert(
    notification_targets,
    *("user_id", "name", "scheme", "url", "events", "gap_minutes", "paused", "digest", "next_digest_at"),
    *("next_attempt_at", "created_at"),
)
OF_USER = _read.where(_owner).order_by(_of.id)
# Encrypting the same address twice gives different texts.
ADDED = _read.where(_owner, _of.url == bindparam("url")).order_by(_of.id.desc()).limit(1)
ONE = _read.where(*_of_owner)
ANY = select(_of.id).limit(1)
SEARCHES = select(watched_searches.c.target_id, watched_searches.c.search_id).where(
    one_of(watched_searches.c.target_id, "targets")
)
_chosen = {"name": "new_name", "events": "new_events", "gap_minutes": "new_gap", "paused": "new_paused"} | {
    "digest": "new_digest",
    "next_digest_at": "new_next_digest_at",
}
CHANGE = notification_targets.update().where(*_of_owner).values({name: bindparam(new) for name, new in _chosen.items()})
# A target with another address begins anew.
SET_URL = (
    notification_targets.update()
    .where(*_of_owner)
    .values(url=bindparam("new_url"), scheme=bindparam("new_scheme"), attempts=0, last_error=None)
)
DROP = notification_targets.delete().where(*_of_owner)
FORGET_SEARCHES = watched_searches.delete().where(
    watched_searches.c.target_id == bindparam("target"), ~one_of(watched_searches.c.search_id, "searches")
)
# From now on: what is there already is not new.
WATCH_SEARCHES = insert_selected(
    watched_searches,
    select(
        _of.id.label("target_id"),
        saved_searches.c.id.label("search_id"),
        select(func.coalesce(func.max(entries.c.id), 0)).scalar_subquery().label("after_entry_id"),
        bindparam("at").label("checked_at"),
    )
    .join(saved_searches, saved_searches.c.user_id == _of.user_id)
    .where(_of.id == bindparam("target"), one_of(saved_searches.c.id, "searches")),
)
ADD_TEST = insert(notifications, "target_id", "event", "created_at")
SEND_NOW = (
    notification_targets.update().where(*_of_owner, _of.claim_token.is_(None)).values(next_attempt_at=bindparam("at"))
)


async def has_targets(db: Database) -> bool:
    """Whether there is any target at all."""
    return bool(await db.query(ANY))


async def add_target(
    db: Database,
    user_id: int,
    settings: TargetSettings,
    next_digest_at: datetime | None,
    scheme: str,
    url: Encrypted,
    now: datetime,
) -> NotificationTarget:
    at = to_iso(now)
    row = {"user_id": user_id, "scheme": scheme, "url": url.value, "next_attempt_at": at, "created_at": at}
    chosen = _settings_row(settings, next_digest_at)
    await db.batch([Step(ADD, row | {name: chosen[new] for name, new in _chosen.items()})])
    [added] = await db.query(ADDED, {"owner": user_id, "url": url.value})
    await db.batch(_steps_to_watch(added["id"], settings.search_ids, at))
    return (await _targets(db, [added]))[0]


async def targets_of(db: Database, user_id: int) -> list[NotificationTarget]:
    return await _targets(db, await db.query(OF_USER, {"owner": user_id}))


async def target_of(db: Database, user_id: int, target_id: int) -> NotificationTarget | None:
    """The user's target of that id; None also when it is somebody else's."""
    found = await _targets(db, await db.query(ONE, _key(user_id, target_id)))
    return found[0] if found else None


async def change_target(
    db: Database,
    target: NotificationTarget,
    settings: TargetSettings,
    next_digest_at: datetime | None,
    url: tuple[str, Encrypted] | None,
    now: datetime,
) -> None:
    """Writes the settings of a target of its owner, and its new address with its scheme, if there is one."""
    key = _key(target.user_id, target.id)
    changed_url = [Step(SET_URL, key | {"new_scheme": url[0], "new_url": url[1].value})] if url else []
    watched = _steps_to_watch(target.id, settings.search_ids, to_iso(now))
    await db.batch([Step(CHANGE, key | _settings_row(settings, next_digest_at)), *changed_url, *watched])


async def drop_target(db: Database, user_id: int, target_id: int) -> bool:
    """Deletes a target with what waits for it; False when the user has no such target."""
    return await db.batch([Step(DROP, _key(user_id, target_id))]) == [1]


async def add_test_notification(db: Database, target: NotificationTarget, now: datetime) -> None:
    """Queues a test message, which is sent at once with all that waits."""
    at = to_iso(now)
    row = {"target_id": target.id, "event": NotificationEvent.TEST, "created_at": at}
    await db.batch([Step(ADD_TEST, row), Step(SEND_NOW, _key(target.user_id, target.id) | {"at": at})])


def _steps_to_watch(target_id: int, search_ids: Sequence[int], at: str) -> list[Step]:
    values = {"target": target_id, "searches": as_list(list(search_ids))}
    return [Step(FORGET_SEARCHES, values), Step(WATCH_SEARCHES, values | {"at": at})]


def _settings_row(settings: TargetSettings, next_digest_at: datetime | None) -> dict[str, Any]:
    return {
        "new_name": settings.name,
        "new_events": msgspec.json.encode(list(settings.events)).decode(),
        "new_gap": int(settings.gap.total_seconds() // 60),
        "new_paused": int(settings.paused),
        "new_digest": settings.digest,
        "new_next_digest_at": iso_or_none(next_digest_at),
    }


def _key(user_id: int, target_id: int) -> dict[str, Any]:
    return {"owner": user_id, "target": target_id}


async def _targets(db: Database, rows: Sequence[Row]) -> list[NotificationTarget]:
    listed = as_list([row["id"] for row in rows])
    watched = await db.query(SEARCHES, {"targets": listed}) if rows else []
    searches: dict[int, list[int]] = {}
    for row in watched:
        searches.setdefault(row["target_id"], []).append(row["search_id"])
    return [_target(row, tuple(sorted(searches.get(row["id"], ())))) for row in rows]


def _target(row: Row, search_ids: tuple[int, ...]) -> NotificationTarget:
    settings = TargetSettings(
        row["name"],
        tuple(msgspec.json.decode(row["events"], type=list[NotificationEvent])),
        search_ids,
        timedelta(minutes=row["gap_minutes"]),
        bool(row["paused"]),
        DigestPeriod(row["digest"]),
    )
    return NotificationTarget(
        id=row["id"],
        user_id=row["user_id"],
        settings=settings,
        scheme=row["scheme"],
        url=Encrypted(row["url"]),
        attempts=row["attempts"],
        next_attempt_at=from_iso(row["next_attempt_at"]),
        waiting=row["waiting"],
        last_success_at=datetime_or_none(row["last_success_at"]),
        last_error=message_or_none(row["last_error"]),
        created_at=from_iso(row["created_at"]),
    )
