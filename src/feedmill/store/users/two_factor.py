"""Second factors of users: turns them on and off, and accepts each code once."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, select

from feedmill.errors import ConstraintViolated
from feedmill.model.encrypted import Encrypted
from feedmill.model.timestamps import to_iso
from feedmill.model.user import Actor, Caller, User
from feedmill.store.admin.audit_log import step_to_audit
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import recovery_codes, totp_secrets, users
from feedmill.store.users.sessions import step_to_end_other_sessions
from feedmill.store.users.users import step_to_lock_user

# Not insert_new: turning it on twice at the same time must fail, with the whole batch.
ADD_SECRET = insert(totp_secrets, "user_id", "secret", "last_step")
SECRET = select(totp_secrets.c.secret).where(totp_secrets.c.user_id == bindparam("of_user"))
ALL_SECRETS = select(totp_secrets.c.secret).order_by(totp_secrets.c.user_id)
# A code that was accepted before, or an older one, changes no row.
USE_STEP = (
    totp_secrets.update()
    .where(totp_secrets.c.user_id == bindparam("of_user"), totp_secrets.c.last_step < bindparam("step"))
    .values(last_step=bindparam("step"))
)
DROP_SECRET = totp_secrets.delete().where(totp_secrets.c.user_id == bindparam("of_user"))
ADD_CODES = insert(recovery_codes, "code_hash", "user_id")
DROP_CODES = recovery_codes.delete().where(recovery_codes.c.user_id == bindparam("of_user"))
USE_CODE = DROP_CODES.where(recovery_codes.c.code_hash == bindparam("used_hash"))
COUNT_CODES = select(func.count().label("n")).where(recovery_codes.c.user_id == bindparam("of_user"))
MARK = users.update().where(users.c.id == bindparam("of_user")).values(two_factor_at=bindparam("at"))


async def add_two_factor(
    db: Database,
    who: Caller,
    secret: Encrypted,
    last_step: int,
    code_hashes: Sequence[str],
    by: Actor,
    now: datetime,
) -> bool:
    """Turns the second factor on and ends all other sessions; False if it is on already."""
    user = who.user
    steps = [
        Step(MARK, {"of_user": user.id, "at": to_iso(now)}),
        Step(ADD_SECRET, {"user_id": user.id, "secret": secret.value, "last_step": last_step}),
        *_steps_to_set_codes(user.id, code_hashes),
        step_to_end_other_sessions(user.id, who.session_id),
        step_to_audit(by, "user.two_factor_on", user.name, now),
    ]
    try:
        await db.batch(steps)
    except ConstraintViolated:
        return False
    return True


async def drop_two_factor(db: Database, user: User, by: Actor, now: datetime) -> None:
    """Turns the second factor off."""
    steps = [
        Step(MARK, {"of_user": user.id, "at": None}),
        Step(DROP_SECRET, {"of_user": user.id}),
        Step(DROP_CODES, {"of_user": user.id}),
        step_to_audit(by, "user.two_factor_off", user.name, now),
    ]
    await db.batch(steps)


async def replace_recovery_codes(
    db: Database, user: User, code_hashes: Sequence[str], by: Actor, now: datetime
) -> None:
    """Replaces all recovery codes of a user by new ones."""
    audit = step_to_audit(by, "user.recovery_codes", user.name, now)
    await db.batch([step_to_lock_user(user.id), *_steps_to_set_codes(user.id, code_hashes), audit])


async def read_totp_secret(db: Database, user_id: int) -> Encrypted | None:
    rows = await db.query(SECRET, {"of_user": user_id})
    return Encrypted(rows[0]["secret"]) if rows else None


async def all_totp_secrets(db: Database) -> list[Encrypted]:
    """The secrets of all users, for a check of the key."""
    return [Encrypted(row["secret"]) for row in await db.query(ALL_SECRETS)]


async def use_totp_step(db: Database, user_id: int, step: int) -> bool:
    """Accepts the code of a time step; False if it, or a later one, was accepted before."""
    return await db.batch([Step(USE_STEP, {"of_user": user_id, "step": step})]) == [1]


async def use_recovery_code(db: Database, user_id: int, code_hash: str) -> bool:
    """Accepts a recovery code of the user and deletes it; False if there is no such code."""
    return await db.batch([Step(USE_CODE, {"of_user": user_id, "used_hash": code_hash})]) == [1]


async def count_recovery_codes(db: Database, user_id: int) -> int:
    [row] = await db.query(COUNT_CODES, {"of_user": user_id})
    return int(row["n"])


def _steps_to_set_codes(user_id: int, code_hashes: Sequence[str]) -> list[Step]:
    rows = [{"code_hash": code_hash, "user_id": user_id} for code_hash in code_hashes]
    return [Step(DROP_CODES, {"of_user": user_id}), Step(ADD_CODES, rows)]
