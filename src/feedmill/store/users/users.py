"""Adds and reads users, and changes passwords and settings."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, select

from feedmill.errors import ConstraintViolated, DatabaseUnavailable, NameTaken
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.model.timestamps import datetime_or_none, from_iso, to_iso
from feedmill.model.user import Actor, User
from feedmill.store.admin.audit_log import step_to_audit
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import (
    bookmarks,
    filters,
    folders,
    labels,
    notification_targets,
    saved_searches,
    services,
    unread_lists,
    users,
    webhooks,
)

_COUNTS = {
    table.name: select(func.count().label("n")).where(table.c.user_id == bindparam("of_user"))
    for table in (bookmarks, filters, folders, labels, notification_targets, saved_searches, services, webhooks)
}
_COUNTS["filters"] = _COUNTS["filters"].where(filters.c.deleted_at.is_(None))

log = get_logger(__name__)

_of_name = select(users.c.id).where(users.c.name == bindparam("of_name")).scalar_subquery()
_list_of_name = select(func.max(unread_lists.c.id)).where(unread_lists.c.user_id == _of_name).scalar_subquery()

INSERT = insert(users, "name", "password_hash", "is_admin", "created_at")
INSERT_LIST = insert(unread_lists, "created_at").values(user_id=_of_name)
POINT_TO_LIST = users.update().where(users.c.name == bindparam("of_name")).values(unread_list_id=_list_of_name)
BY_NAME = select(users).where(users.c.name == bindparam("name"))
BY_ID = select(users).where(users.c.id == bindparam("user_id"))
COUNT = select(func.count().label("n")).select_from(users)
SET_PASSWORD = users.update().where(users.c.id == bindparam("of_user")).values(password_hash=bindparam("password_hash"))
SET_SETTINGS = users.update().where(users.c.id == bindparam("of_user")).values(settings=bindparam("new_settings"))
SET_LAST_SEEN = users.update().where(users.c.id == bindparam("of_user")).values(last_seen_at=bindparam("now"))
# Changes nothing, but locks the row: adding API keys and ending sessions of one user happen one after the other.
LOCK = users.update().where(users.c.id == bindparam("of_user")).values(status=users.c.status)
REHASH = SET_PASSWORD.where(users.c.password_hash == bindparam("old_hash"))


def steps_to_add_user(name: str, password_hash: str | None, is_admin: bool, now: datetime) -> list[Step]:
    """The steps that add a user with an empty unread list."""
    at = to_iso(now)
    row = {"name": name, "password_hash": password_hash, "is_admin": int(is_admin), "created_at": at}
    return [
        Step(INSERT, row),
        Step(INSERT_LIST, {"of_name": name, "created_at": at}),
        Step(POINT_TO_LIST, {"of_name": name}),
    ]


async def add_user(
    db: Database, name: str, password_hash: str | None, is_admin: bool, now: datetime, by: Actor | None = None
) -> User:
    """Adds a user; raises `NameTaken`."""
    what = "user.add_admin" if is_admin else "user.add"
    steps = [*steps_to_add_user(name, password_hash, is_admin, now), step_to_audit(by or Actor(), what, name, now)]
    try:
        await db.batch(steps)
    except ConstraintViolated as error:
        raise NameTaken(Message("error.name_taken", name=name)) from error
    [found] = await db.query(BY_NAME, {"name": name})
    return to_user(found)


async def user_of_id(db: Database, user_id: int) -> User | None:
    rows = await db.query(BY_ID, {"user_id": user_id})
    return to_user(rows[0]) if rows else None


async def user_of_name(db: Database, name: str) -> User | None:
    rows = await db.query(BY_NAME, {"name": name})
    return to_user(rows[0]) if rows else None


async def user_with_password_hash(db: Database, name: str) -> tuple[User, str | None] | None:
    """The user of that name and the hash of the password; None when there is no such user."""
    rows = await db.query(BY_NAME, {"name": name})
    return (to_user(rows[0]), rows[0]["password_hash"]) if rows else None


async def user_of_id_with_password_hash(db: Database, user_id: int) -> tuple[User, str | None] | None:
    """The user of that id and the hash of the password; None when there is no such user."""
    rows = await db.query(BY_ID, {"user_id": user_id})
    return (to_user(rows[0]), rows[0]["password_hash"]) if rows else None


def step_to_set_password(user_id: int, password_hash: str) -> Step:
    return Step(SET_PASSWORD, {"of_user": user_id, "password_hash": password_hash})


def step_to_lock_user(user_id: int) -> Step:
    """The step that locks the user's row until the batch ends."""
    return Step(LOCK, {"of_user": user_id})


def step_to_save_preferences(user_id: int, settings: str) -> Step:
    return Step(SET_SETTINGS, {"of_user": user_id, "new_settings": settings})


def step_to_rehash_password(user_id: int, old_hash: str, password_hash: str) -> Step:
    """The step that replaces the hash by a stronger one, unless the password was changed meanwhile."""
    return Step(REHASH, {"of_user": user_id, "old_hash": old_hash, "password_hash": password_hash})


def step_to_set_last_seen(user_id: int, now: datetime) -> Step:
    """The step that records when the user was last seen."""
    return Step(SET_LAST_SEEN, {"of_user": user_id, "now": to_iso(now)})


async def record_usage(db: Database, steps: Sequence[Step]) -> None:
    """Runs steps that record a use; a database that cannot be written to does not stop the request."""
    try:
        await db.batch(steps)
    except DatabaseUnavailable as error:
        log.warning("usage_not_recorded", reason=str(error))


async def count_users(db: Database) -> int:
    [row] = await db.query(COUNT)
    return int(row["n"])


def to_user(row: Row) -> User:
    return User(
        id=row["id"],
        name=row["name"],
        is_admin=bool(row["is_admin"]),
        status=row["status"],
        unread_list_id=row["unread_list_id"],
        settings=row["settings"],
        quota_feeds=row["quota_feeds"],
        quota_bytes=row["quota_bytes"],
        created_at=from_iso(row["created_at"]),
        last_seen_at=datetime_or_none(row["last_seen_at"]),
        two_factor_at=datetime_or_none(row["two_factor_at"]),
        has_password=row["password_hash"] is not None,
    )


async def count_owned(db: Database, user_id: int, table: str) -> int:
    [row] = await db.query(_COUNTS[table], {"of_user": user_id})
    return int(row["n"])
