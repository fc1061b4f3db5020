"""Users as an administrator lists, changes and deletes them; one active admin always remains."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Integer, bindparam, case, func, null, or_, select

from feedmill.errors import ConstraintViolated, LastAdmin
from feedmill.i18n.messages import Message
from feedmill.model.user import ACTIVE, DISABLED, Actor, User
from feedmill.store.admin.audit_log import step_to_audit
from feedmill.store.database import Database, Step
from feedmill.store.feeds.apply_subscriber_settings import steps_to_rest_unwanted_feeds
from feedmill.store.schema import subscriptions, users
from feedmill.store.users.sessions import step_to_end_other_sessions
from feedmill.store.users.users import to_user

_feeds = select(func.count()).where(subscriptions.c.user_id == users.c.id).scalar_subquery()
PAGE = (
    select(users, _feeds.label("feeds"))
    .where(users.c.id > bindparam("after"))
    .order_by(users.c.id)
    .limit(bindparam("most", type_=Integer))
)
ONE = select(users, _feeds.label("feeds")).where(users.c.id == bindparam("user_id"))

# Changes nothing, but locks the rows of admins: removing admins happens one after the other.
LOCK_ADMINS = users.update().where(users.c.is_admin == 1).values(is_admin=1)
_other = users.alias("other")
# Counted in a subquery of its own: MySQL does not let an update select from its table otherwise.
_others = (
    select(func.count().label("n"))
    .where(_other.c.is_admin == 1, _other.c.status == ACTIVE, _other.c.id != bindparam("of_user"))
    .subquery("others")
)
# Sets the status of the last admin to NULL, which violates a constraint and undoes the batch.
KEEP_LAST_ADMIN = (
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
class UserSummary:
    """A user and the number of their subscriptions."""

    user: User
    feeds: int


async def users_page(db: Database, after: int, most: int) -> list[UserSummary]:
    rows = await db.query(PAGE, {"after": after, "most": most})
    return [UserSummary(to_user(row), row["feeds"]) for row in rows]


async def read_user_summary(db: Database, user_id: int) -> UserSummary | None:
    rows = await db.query(ONE, {"user_id": user_id})
    return UserSummary(to_user(rows[0]), rows[0]["feeds"]) if rows else None


async def update_user(db: Database, before: User, after: User, by: Actor, now: datetime) -> None:
    """Saves status, admin right and quotas; ends the sessions of a user who is disabled."""
    changed = [name for name in ("status", "is_admin", "quota_feeds", "quota_bytes") if _differs(before, after, name)]
    subject = ", ".join([before.name, *(f"{name}={getattr(after, name)}" for name in changed)])
    values = {
        "of_user": before.id,
        "new_status": after.status,
        "new_is_admin": int(after.is_admin),
        "new_quota_feeds": after.quota_feeds,
        "new_quota_bytes": after.quota_bytes,
    }
    is_less = before.is_admin and (not after.is_admin or after.status == DISABLED)
    ended = [step_to_end_other_sessions(before.id, None)] if after.status == DISABLED else []
    await _run_guarded(
        db, before.id, [Step(CHANGE, values), *ended, step_to_audit(by, "user.change", subject, now)], is_less
    )


async def delete_user(db: Database, user: User, by: Actor, now: datetime) -> None:
    """Deletes a user with all their data; raises `LastAdmin`."""
    steps = [
        Step(DELETE, {"of_user": user.id}),
        *steps_to_rest_unwanted_feeds(),
        step_to_audit(by, "user.delete", user.name, now),
    ]
    await _run_guarded(db, user.id, steps, is_less=True)


async def _run_guarded(db: Database, user_id: int, steps: list[Step], is_less: bool) -> None:
    """Runs the steps; if `is_less`, only when another active admin is left, else raises `LastAdmin`."""
    guards = [Step(LOCK_ADMINS), Step(KEEP_LAST_ADMIN, {"of_user": user_id})] if is_less else []
    try:
        await db.batch([*guards, *steps])
    except ConstraintViolated as error:
        raise LastAdmin(Message("error.last_admin")) from error


def _differs(before: User, after: User, name: str) -> bool:
    return bool(getattr(before, name) != getattr(after, name))
