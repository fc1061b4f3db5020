"""People as rows."""

from datetime import datetime

from sqlalchemy import bindparam, func, select

from feedmill.errors import Conflict, ConstraintViolated
from feedmill.model.account import User
from feedmill.model.times import from_text, moment_or_none, to_text
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import unread_lists, users

_of_name = select(users.c.id).where(users.c.name == bindparam("of_name")).scalar_subquery()
_list_of_name = select(func.max(unread_lists.c.id)).where(unread_lists.c.user_id == _of_name).scalar_subquery()

INSERT = insert(users, "name", "password_hash", "is_admin", "created_at")
INSERT_LIST = insert(unread_lists, "created_at").values(user_id=_of_name)
POINT_TO_LIST = users.update().where(users.c.name == bindparam("of_name")).values(unread_list_id=_list_of_name)
BY_NAME = select(users).where(users.c.name == bindparam("name"))
BY_ID = select(users).where(users.c.id == bindparam("user_id"))
COUNT = select(func.count().label("n")).select_from(users)


async def add_user(db: Database, name: str, password_hash: str | None, is_admin: bool, now: datetime) -> User:
    """A new person with an empty unread list; `Conflict` when the name is taken."""
    at = to_text(now)
    row = {"name": name, "password_hash": password_hash, "is_admin": int(is_admin), "created_at": at}
    try:
        await db.batch(
            [
                Step(INSERT, row),
                Step(INSERT_LIST, {"of_name": name, "created_at": at}),
                Step(POINT_TO_LIST, {"of_name": name}),
            ]
        )
    except ConstraintViolated as error:
        raise Conflict(f"the name {name!r} is taken") from error
    [found] = await db.query(BY_NAME, {"name": name})
    return to_user(found)


async def user_of_id(db: Database, user_id: int) -> User | None:
    rows = await db.query(BY_ID, {"user_id": user_id})
    return to_user(rows[0]) if rows else None


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
