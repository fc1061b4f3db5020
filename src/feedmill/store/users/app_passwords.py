"""App passwords: adds, lists, checks and revokes them; only digests of each are stored."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, or_, select
from sqlalchemy.sql.dml import Insert

from feedmill.errors import NotSignedIn
from feedmill.i18n.messages import Message
from feedmill.model.timestamps import datetime_or_none, from_iso, to_iso
from feedmill.model.user import ACTIVE, AppPassword, RequestOrigin, User
from feedmill.store.database import Database, Row, Step
from feedmill.store.schema import app_passwords, sessions, users
from feedmill.store.users.users import record_usage, step_to_lock_user, step_to_set_last_seen, to_user

# How often the last use of an app password is recorded.
USED_EVERY = timedelta(minutes=1)
LONGEST_USER_AGENT = 300

_columns = ("user_id", "name", "password_hash", "fever_hash", "created_at")
_new_values = (users.c.id, *(bindparam(f"new_{name}") for name in _columns[1:]))
_active_user = and_(users.c.id == bindparam("of_user"), users.c.status == ACTIVE)
_session_stands = (
    select(sessions.c.id)
    .where(
        sessions.c.id == bindparam("session_id"),
        sessions.c.user_id == users.c.id,
        sessions.c.expires_at > bindparam("new_created_at"),
    )
    .exists()
)


def _add(*conditions: ColumnElement[bool]) -> Insert:
    return Insert(app_passwords).from_select([*_columns], select(*_new_values).where(_active_user, *conditions))


ADD = _add()
ADD_IN_SESSION = _add(_session_stands)

_password = tuple(column.label(f"password_{column.name}") for column in app_passwords.c)
_valid = app_passwords.c.revoked_at.is_(None)


def _holder(condition: ColumnElement[bool]) -> Select[Any]:
    return (
        select(users, *_password)
        .select_from(app_passwords.join(users, users.c.id == app_passwords.c.user_id))
        .where(condition, _valid, users.c.status == ACTIVE)
    )


HOLDER_BY_HASH = _holder(app_passwords.c.password_hash == bindparam("hash"))
HOLDER_BY_FEVER_HASH = _holder(app_passwords.c.fever_hash == bindparam("hash"))
HOLDER_BY_ID = _holder(app_passwords.c.id == bindparam("password_id"))
OF_USER = select(*_password).where(app_passwords.c.user_id == bindparam("user_id"), _valid)
NEWEST_FIRST = OF_USER.order_by(app_passwords.c.id.desc())
BY_HASH = select(*_password).where(app_passwords.c.password_hash == bindparam("hash"))
REVOKE_ALL = (
    app_passwords.update()
    .where(app_passwords.c.user_id == bindparam("of_user"), _valid)
    .values(revoked_at=bindparam("now"))
)
REVOKE = REVOKE_ALL.where(app_passwords.c.id == bindparam("password_id"))
USED = (
    app_passwords.update()
    .where(
        app_passwords.c.id == bindparam("password_id"),
        or_(app_passwords.c.last_used_at.is_(None), app_passwords.c.last_used_at < bindparam("older_than")),
    )
    .values(last_used_at=bindparam("now"), last_address=bindparam("address"), last_user_agent=bindparam("agent"))
)


async def add_app_password(
    db: Database,
    user_id: int,
    name: str,
    password_hash: str,
    fever_hash: str | None,
    now: datetime,
    session_id: int | None = None,
) -> AppPassword:
    """Adds an app password; raises `NotSignedIn` if the session that asks for it has ended."""
    row = {
        "of_user": user_id,
        "new_name": name,
        "new_password_hash": password_hash,
        "new_fever_hash": fever_hash,
        "new_created_at": to_iso(now),
        "session_id": session_id,
    }
    # The lock orders this with revoking all passwords of the user: if that came first, the session has ended.
    statement = ADD if session_id is None else ADD_IN_SESSION
    [_, added] = await db.batch([step_to_lock_user(user_id), Step(statement, row)])
    if not added:
        raise NotSignedIn(Message("error.caller_ended"))
    [found] = await db.query(BY_HASH, {"hash": password_hash})
    return _app_password(found)


async def app_passwords_of(db: Database, user_id: int) -> list[AppPassword]:
    """A user's valid app passwords, the newest first."""
    return [_app_password(row) for row in await db.query(NEWEST_FIRST, {"user_id": user_id})]


async def revoke_app_password_of_user(db: Database, user_id: int, password_id: int, now: datetime) -> bool:
    """Revokes an app password; False if the user has no such password."""
    [revoked] = await db.batch([Step(REVOKE, {"password_id": password_id, "of_user": user_id, "now": to_iso(now)})])
    return revoked == 1


def step_to_revoke_all_app_passwords(user_id: int, now: datetime) -> Step:
    """The step that revokes all app passwords of a user."""
    return Step(REVOKE_ALL, {"of_user": user_id, "now": to_iso(now)})


async def find_app_password_holder(db: Database, password_hash: str) -> tuple[User, AppPassword] | None:
    """The active user of the app password with this digest, and the password; None if it is not valid."""
    return _one_holder(await db.query(HOLDER_BY_HASH, {"hash": password_hash}))


async def find_fever_holder(db: Database, fever_hash: str) -> tuple[User, AppPassword] | None:
    """The active user of the Fever key with this digest, and the password; None if it is not valid."""
    return _one_holder(await db.query(HOLDER_BY_FEVER_HASH, {"hash": fever_hash}))


async def find_app_password(db: Database, password_id: int) -> tuple[User, AppPassword] | None:
    """The active user of the app password with this id, and the password; None if it is not valid."""
    return _one_holder(await db.query(HOLDER_BY_ID, {"password_id": password_id}))


async def record_app_password_use(
    db: Database, user: User, password: AppPassword, origin: RequestOrigin, now: datetime
) -> None:
    """Records the use of an app password; at most once in `USED_EVERY`."""
    if password.last_used_at is not None and password.last_used_at >= now - USED_EVERY:
        return
    row = {
        "password_id": password.id,
        "now": to_iso(now),
        "older_than": to_iso(now - USED_EVERY),
        "address": origin.address,
        "agent": origin.user_agent[:LONGEST_USER_AGENT] if origin.user_agent else None,
    }
    await record_usage(db, [step_to_set_last_seen(user.id, now), Step(USED, row)])


def _one_holder(rows: Sequence[Row]) -> tuple[User, AppPassword] | None:
    return (to_user(rows[0]), _app_password(rows[0])) if rows else None


def _app_password(row: Row) -> AppPassword:
    return AppPassword(
        id=row["password_id"],
        name=row["password_name"],
        allows_fever=row["password_fever_hash"] is not None,
        created_at=from_iso(row["password_created_at"]),
        last_used_at=datetime_or_none(row["password_last_used_at"]),
        last_address=row["password_last_address"],
        last_user_agent=row["password_last_user_agent"],
    )
