"""What an admin does to accounts. At least one admin who can sign in is left, whoever does what at the same time."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Integer, bindparam, case, func, null, or_, select

from feedmill.errors import ConstraintViolated, LastAdmin
from feedmill.model.account import ACTIVE, DISABLED, Actor, User
from feedmill.store.accounts import to_user
from feedmill.store.audit import write_down
from feedmill.store.database import Database, Step
from feedmill.store.schema import subscriptions, users
from feedmill.store.sessions import end_others
from feedmill.store.subscribers import all_left

_feeds = select(func.count()).where(subscriptions.c.user_id == users.c.id).scalar_subquery()
PAGE = (
    select(users, _feeds.label("feeds"))
    .where(users.c.id > bindparam("after"))
    .order_by(users.c.id)
    .limit(bindparam("most", type_=Integer))
)
ONE = select(users, _feeds.label("feeds")).where(users.c.id == bindparam("user_id"))

# Changes nothing: whoever wants to take an admin away waits here for whoever else does.
HOLD_ADMINS = users.update().where(users.c.is_admin == 1).values(is_admin=1)
_other = users.alias("other")
# Counted in a subquery of its own: MySQL does not let an update select from its table otherwise.
_others = (
    select(func.count().label("n"))
    .where(_other.c.is_admin == 1, _other.c.status == ACTIVE, _other.c.id != bindparam("of_user"))
    .subquery("others")
)
# The status of the last one becomes NULL, which it must not be: that undoes the batch.
SPARE_THE_LAST = (
    users.update()
    .where(users.c.id == bindparam("of_user"))
    .values(
        status=case(
            (or_(users.c.is_admin == 0, select(_others.c.n).scalar_subquery() > 0), users.c.status), else_=null()
        )
    )
)
CHANGE = (
    users.update()
    .where(users.c.id == bindparam("of_user"))
    .values({name: bindparam(f"new_{name}") for name in ("status", "is_admin", "quota_feeds", "quota_bytes")})
)
DELETE = users.delete().where(users.c.id == bindparam("of_user"))


@dataclass(frozen=True, slots=True)
class Account:
    """A user, and how many feeds they are subscribed to."""

    user: User
    feeds: int


async def accounts_page(db: Database, after: int, most: int) -> list[Account]:
    rows = await db.query(PAGE, {"after": after, "most": most})
    return [Account(to_user(row), row["feeds"]) for row in rows]


async def read_account(db: Database, user_id: int) -> Account | None:
    rows = await db.query(ONE, {"user_id": user_id})
    return Account(to_user(rows[0]), rows[0]["feeds"]) if rows else None


async def change_account(db: Database, before: User, after: User, by: Actor, now: datetime) -> None:
    """Writes status, power and quotas; whoever is disabled is signed out everywhere."""
    changed = [name for name in ("status", "is_admin", "quota_feeds", "quota_bytes") if _differs(before, after, name)]
    subject = ", ".join([before.name, *(f"{name}={getattr(after, name)}" for name in changed)])
    values = {
        "of_user": before.id, "new_status": after.status, "new_is_admin": int(after.is_admin),
        "new_quota_feeds": after.quota_feeds, "new_quota_bytes": after.quota_bytes,
    }  # fmt: skip
    is_less = before.is_admin and (not after.is_admin or after.status == DISABLED)
    ended = [end_others(before.id, None)] if after.status == DISABLED else []
    await _do(db, before.id, [Step(CHANGE, values), *ended, write_down(by, "user.change", subject, now)], is_less)


async def delete_account(db: Database, user: User, by: Actor, now: datetime) -> None:
    """Takes the account away with whatever belongs to it."""
    steps = [Step(DELETE, {"of_user": user.id}), *all_left(), write_down(by, "user.delete", user.name, now)]
    await _do(db, user.id, steps, is_less=True)


async def _do(db: Database, user_id: int, steps: list[Step], is_less: bool) -> None:
    """Runs the steps; those that take an admin away, only if another one is left."""
    guards = [Step(HOLD_ADMINS), Step(SPARE_THE_LAST, {"of_user": user_id})] if is_less else []
    try:
        await db.batch([*guards, *steps])
    except ConstraintViolated as error:
        raise LastAdmin("this is the last admin: make another one first") from error


def _differs(before: User, after: User, name: str) -> bool:
    return bool(getattr(before, name) != getattr(after, name))
