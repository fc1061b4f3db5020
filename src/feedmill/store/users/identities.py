"""Identities of users at OpenID Connect providers, found by issuer and subject alone."""

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256

from sqlalchemy import bindparam, case, func, null, or_, select

from feedmill.errors import Conflict, ConstraintViolated, NameTaken
from feedmill.i18n.messages import Message
from feedmill.model.timestamps import datetime_or_none, from_iso, to_iso
from feedmill.model.user import Actor, LinkedIdentity, ProviderSubject, User
from feedmill.store.admin.audit_log import step_to_audit
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, insert, one_of
from feedmill.store.schema import identities, used_sign_ins, users
from feedmill.store.users.users import step_to_lock_user, steps_to_add_user, to_user

_COLUMNS = ("identity_hash", "issuer", "subject", "label", "created_at", "last_used_at")
_of_name = select(users.c.id).where(users.c.name == bindparam("of_name")).scalar_subquery()

INSERT = insert(identities, "user_id", *_COLUMNS)
INSERT_OF_NAME = insert(identities, *_COLUMNS).values(user_id=_of_name)
USER_OF = (
    select(users)
    .select_from(identities.join(users, users.c.id == identities.c.user_id))
    .where(identities.c.identity_hash == bindparam("identity_hash"))
)
OF_USER = select(identities).where(identities.c.user_id == bindparam("user_id")).order_by(identities.c.id)
SET_LAST_USED = (
    identities.update()
    .where(identities.c.identity_hash == bindparam("of_hash"))
    .values(last_used_at=bindparam("now"), label=bindparam("new_label"))
)
DELETE = identities.delete().where(
    identities.c.id == bindparam("identity_id"), identities.c.user_id == bindparam("of_user")
)
_left = (
    select(func.count().label("n"))
    .where(identities.c.user_id == bindparam("of_user"), one_of(identities.c.issuer, "issuers"))
    .subquery("left_over")
)
# Sets the status of a user who has neither a password nor an identity to NULL, which undoes the batch.
KEEP_ONE = (
    users.update()
    .where(users.c.id == bindparam("of_user"))
    .values(
        status=case(
            (
                or_(
                    select(_left.c.n).scalar_subquery() > 0,
                    (users.c.password_hash.is_not(None)) & (bindparam("password_counts") == 1),
                ),
                users.c.status,
            ),
            else_=null(),
        )
    )
)
# Not insert_new: a second use must be refused.
USE = insert(used_sign_ins, "state_hash", "expires_at")
DROP_EXPIRED = used_sign_ins.delete().where(used_sign_ins.c.expires_at <= bindparam("now"))


async def user_of_identity(db: Database, subject: ProviderSubject) -> User | None:
    """The user who signs in with this identity, also a disabled one."""
    rows = await db.query(USER_OF, {"identity_hash": identity_hash(subject)})
    return to_user(rows[0]) if rows else None


async def identities_of(db: Database, user_id: int) -> list[LinkedIdentity]:
    """The identities of a user, the oldest first."""
    return [_to_identity(row) for row in await db.query(OF_USER, {"user_id": user_id})]


async def add_identity(db: Database, user: User, subject: ProviderSubject, now: datetime, by: Actor) -> None:
    """Links an identity to a user; raises `Conflict` if it is linked already."""
    step = Step(INSERT, {"user_id": user.id, **_row(subject, now)})
    try:
        await db.batch([step, step_to_audit(by, "user.link_identity", f"{user.name}, {subject.issuer}", now)])
    except ConstraintViolated as error:
        raise Conflict(Message("error.identity_taken")) from error


async def add_user_with_identity(
    db: Database, name: str, is_admin: bool, subject: ProviderSubject, now: datetime, by: Actor
) -> User | None:
    """Adds a user without a password; None if the identity has a user by now; raises `NameTaken`."""
    steps = [
        *steps_to_add_user(name, None, is_admin, now),
        Step(INSERT_OF_NAME, {"of_name": name, **_row(subject, now)}),
        step_to_audit(by, "user.add_admin" if is_admin else "user.add", f"{name}, {subject.issuer}", now),
    ]
    try:
        await db.batch(steps)
    except ConstraintViolated as error:
        if await user_of_identity(db, subject) is not None:
            return None
        raise NameTaken(Message("error.name_taken", name=name)) from error
    return await user_of_identity(db, subject)


async def record_identity_use(db: Database, subject: ProviderSubject, now: datetime) -> None:
    values = {"of_hash": identity_hash(subject), "now": to_iso(now), "new_label": subject.label}
    await db.batch([Step(SET_LAST_USED, values)])


async def remove_identity(
    db: Database,
    user: User,
    identity_id: int,
    issuers: Sequence[str],
    password_counts: bool,
    now: datetime,
    by: Actor,
) -> bool:
    """Unlinks an identity; False if the user has no such one; raises `Conflict` if nothing is left to sign in with.

    Other ways to sign in are identities of `issuers`, and a password if `password_counts`.
    """
    left = {"of_user": user.id, "issuers": as_list(list(issuers)), "password_counts": int(password_counts)}
    steps = [
        step_to_lock_user(user.id),
        Step(DELETE, {"identity_id": identity_id, "of_user": user.id}),
        Step(KEEP_ONE, left),
        step_to_audit(by, "user.unlink_identity", user.name, now),
    ]
    if identity_id not in {each.id for each in await identities_of(db, user.id)}:
        return False
    try:
        await db.batch(steps)
    except ConstraintViolated as error:
        raise Conflict(Message("error.last_way_to_sign_in")) from error
    return True


async def use_sign_in(db: Database, state_hash: str, expires_at: datetime, now: datetime) -> bool:
    """Records that a sign-in at a provider was used; False if it was before."""
    try:
        await db.batch(
            [
                Step(USE, {"state_hash": state_hash, "expires_at": to_iso(expires_at)}),
                Step(DROP_EXPIRED, {"now": to_iso(now)}),
            ]
        )
    except ConstraintViolated:
        return False
    return True


def identity_hash(subject: ProviderSubject) -> str:
    """A digest of both, because not every database compares long texts byte by byte."""
    return sha256(f"{len(subject.issuer)}:{subject.issuer}{subject.subject}".encode()).hexdigest()


def _row(subject: ProviderSubject, now: datetime) -> dict[str, str | None]:
    return {
        "identity_hash": identity_hash(subject),
        "issuer": subject.issuer,
        "subject": subject.subject,
        "label": subject.label,
        "created_at": to_iso(now),
        "last_used_at": to_iso(now),
    }


def _to_identity(row: Row) -> LinkedIdentity:
    return LinkedIdentity(
        id=row["id"],
        user_id=row["user_id"],
        issuer=row["issuer"],
        label=row["label"],
        created_at=from_iso(row["created_at"]),
        last_used_at=datetime_or_none(row["last_used_at"]),
    )
