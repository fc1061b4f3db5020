"""Links that sign a user in once; only a digest of each token is stored."""

from datetime import datetime

from sqlalchemy import bindparam, select

from feedmill.model.timestamps import to_iso
from feedmill.model.user import ACTIVE, Actor, User
from feedmill.store.admin.audit_log import step_to_audit
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import sign_in_links, users
from feedmill.store.users.users import to_user

INSERT = insert(sign_in_links, "token_hash", "user_id", "created_at", "expires_at")
DROP_EXPIRED = sign_in_links.delete().where(sign_in_links.c.expires_at <= bindparam("now"))
# A new link replaces those that the user had.
DROP_OF_USER = sign_in_links.delete().where(sign_in_links.c.user_id == bindparam("of_user"))
USE = sign_in_links.delete().where(
    sign_in_links.c.token_hash == bindparam("token_hash"), sign_in_links.c.expires_at > bindparam("now")
)
USER_OF = (
    select(users)
    .select_from(sign_in_links.join(users, users.c.id == sign_in_links.c.user_id))
    .where(
        sign_in_links.c.token_hash == bindparam("token_hash"),
        sign_in_links.c.expires_at > bindparam("now"),
        users.c.status == ACTIVE,
    )
)


async def add_sign_in_link(
    db: Database, user: User, token_hash: str, expires_at: datetime, now: datetime, by: Actor
) -> None:
    row = {"token_hash": token_hash, "user_id": user.id, "created_at": to_iso(now), "expires_at": to_iso(expires_at)}
    await db.batch(
        [
            Step(DROP_EXPIRED, {"now": to_iso(now)}),
            Step(DROP_OF_USER, {"of_user": user.id}),
            Step(INSERT, row),
            step_to_audit(by, "user.sign_in_link", user.name, now),
        ]
    )


async def user_of_link(db: Database, token_hash: str, now: datetime) -> User | None:
    """The active user whom the link signs in; None if it was used or has expired."""
    rows = await db.query(USER_OF, {"token_hash": token_hash, "now": to_iso(now)})
    return to_user(rows[0]) if rows else None


async def use_link(db: Database, token_hash: str, now: datetime) -> bool:
    """Ends a link; False if it was used before or has expired."""
    return await db.batch([Step(USE, {"token_hash": token_hash, "now": to_iso(now)})]) == [1]
