"""People as rows."""

from collections.abc import Sequence
from datetime import datetime

import structlog
from sqlalchemy import bindparam, func, select

from feedmill.errors import ConstraintViolated, DatabaseUnavailable, NameTaken
from feedmill.model.account import Actor, User
from feedmill.model.times import from_text, moment_or_none, to_text
from feedmill.store.audit import write_down
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import unread_lists, users

log = structlog.get_logger(__name__)

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
SEEN = users.update().where(users.c.id == bindparam("of_user")).values(last_seen_at=bindparam("now"))
REHASH = SET_PASSWORD.where(users.c.password_hash == bindparam("old_hash"))


def user_steps(name: str, password_hash: str | None, is_admin: bool, now: datetime) -> list[Step]:
    """The steps that make a person with an empty unread list."""
    at = to_text(now)
    row = {"name": name, "password_hash": password_hash, "is_admin": int(is_admin), "created_at": at}
    return [
        Step(INSERT, row),
        Step(INSERT_LIST, {"of_name": name, "created_at": at}),
        Step(POINT_TO_LIST, {"of_name": name}),
    ]


async def add_user(
    db: Database, name: str, password_hash: str | None, is_admin: bool, now: datetime, by: Actor | None = None
) -> User:
    """A new person; `NameTaken` when somebody has that name."""
    what = "user.add_admin" if is_admin else "user.add"
    steps = [*user_steps(name, password_hash, is_admin, now), write_down(by or Actor(), what, name, now)]
    try:
        await db.batch(steps)
    except ConstraintViolated as error:
        raise NameTaken(f"the name {name!r} is taken") from error
    [found] = await db.query(BY_NAME, {"name": name})
    return to_user(found)


async def user_of_id(db: Database, user_id: int) -> User | None:
    rows = await db.query(BY_ID, {"user_id": user_id})
    return to_user(rows[0]) if rows else None


async def user_of_name(db: Database, name: str) -> User | None:
    rows = await db.query(BY_NAME, {"name": name})
    return to_user(rows[0]) if rows else None


async def password_of(db: Database, name: str) -> tuple[User, str | None] | None:
    """The user of that name with the hash of the password; None when there is no such user."""
    rows = await db.query(BY_NAME, {"name": name})
    return (to_user(rows[0]), rows[0]["password_hash"]) if rows else None


def set_password(user_id: int, password_hash: str) -> Step:
    return Step(SET_PASSWORD, {"of_user": user_id, "password_hash": password_hash})


def set_settings(user_id: int, settings: str) -> Step:
    return Step(SET_SETTINGS, {"of_user": user_id, "new_settings": settings})


def rehash(user_id: int, old_hash: str, password_hash: str) -> Step:
    """The step that replaces a hash by a better one of the same password, unless that was changed meanwhile."""
    return Step(REHASH, {"of_user": user_id, "old_hash": old_hash, "password_hash": password_hash})


def seen(user_id: int, now: datetime) -> Step:
    """The step that says that the user was here."""
    return Step(SEEN, {"of_user": user_id, "now": to_text(now)})


async def note(db: Database, steps: Sequence[Step]) -> None:
    """Writes down that something was used. A disk that is full stops nobody from reading."""
    try:
        await db.batch(steps)
    except DatabaseUnavailable as error:
        log.warning("who was here could not be written down", reason=str(error))


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
        created_at=from_text(row["created_at"]),
        last_seen_at=moment_or_none(row["last_seen_at"]),
    )
