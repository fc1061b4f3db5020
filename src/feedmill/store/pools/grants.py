"""Which users may take from which pool group, and which may fill it."""

from datetime import datetime

from sqlalchemy import bindparam, select

from feedmill.model.pool import PoolAccess, PoolGrant, PoolGroup, PoolRight
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.model.user import Actor, Caller, User
from feedmill.store.admin.audit_log import step_to_audit
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert_selected
from feedmill.store.schema import pool_grants, pool_groups, users

_of_group = pool_grants.c.group_id == bindparam("of_group")
OF_USER = select(pool_grants.c.group_id).where(
    pool_grants.c.user_id == bindparam("user_id"), pool_grants.c.access == bindparam("wanted")
)
OF_GROUP = (
    select(pool_grants.c.user_id, users.c.name, pool_grants.c.granted_at, pool_grants.c.access)
    .select_from(pool_grants.join(users, users.c.id == pool_grants.c.user_id))
    .where(_of_group)
    .order_by(users.c.name, pool_grants.c.access.desc())
)
# Selected from existing rows, so that a group or user that was deleted meanwhile is not an error.
GRANT = insert_selected(
    pool_grants,
    select(
        pool_groups.c.id.label("a"), users.c.id.label("b"), bindparam("wanted").label("c"), bindparam("at").label("d")
    ).where(pool_groups.c.id == bindparam("of_group"), users.c.id == bindparam("of_user")),
)
REVOKE = pool_grants.delete().where(
    _of_group, pool_grants.c.user_id == bindparam("of_user"), pool_grants.c.access == bindparam("wanted")
)


async def pool_access(db: Database, who: Caller, right: PoolRight = PoolRight.TAKE) -> PoolAccess:
    """The groups that the caller has the right for: all for an admin, else those granted; an API key may limit them."""
    limit = who.api_key.pool_groups if who.api_key else None
    allowed = None if limit is None else frozenset(group.id for group in limit)
    if not who.user.is_admin:
        granted = frozenset(
            row["group_id"] for row in await db.query(OF_USER, {"user_id": who.user.id, "wanted": right})
        )
        allowed = granted if allowed is None else granted & allowed
    return PoolAccess(allowed)


async def grants_of(db: Database, group_id: int) -> list[PoolGrant]:
    """The rights for the group, besides those of admins, by name."""
    rows = await db.query(OF_GROUP, {"of_group": group_id})
    return [
        PoolGrant(row["user_id"], row["name"], from_iso(row["granted_at"]), PoolRight(row["access"])) for row in rows
    ]


async def grant_access(
    db: Database, group: PoolGroup, user: User, by: Actor, now: datetime, right: PoolRight = PoolRight.TAKE
) -> None:
    """Gives the user a right for the group; granting again changes nothing."""
    row = {"of_group": group.id, "of_user": user.id, "wanted": right, "at": to_iso(now)}
    done = step_to_audit(by, "pool.grant", _subject(group, user.name, right), now)
    await db.batch([Step(GRANT, row), done])


async def revoke_access(
    db: Database, group: PoolGroup, user_id: int, by: Actor, now: datetime, right: PoolRight = PoolRight.TAKE
) -> PoolGrant | None:
    """Revokes the grant and returns it; None when the user had none."""
    found = await grants_of(db, group.id)
    grant = next((each for each in found if each.user_id == user_id and each.right is right), None)
    if grant is None:
        return None
    row = {"of_group": group.id, "of_user": user_id, "wanted": right}
    done = step_to_audit(by, "pool.revoke", _subject(group, grant.user_name, right), now)
    await db.batch([Step(REVOKE, row), done])
    return grant


def _subject(group: PoolGroup, user_name: str, right: PoolRight) -> str:
    """A grant as the audit log names it."""
    return f"{group.name}: {user_name}" if right is PoolRight.TAKE else f"{group.name}: {user_name}, {right}"
