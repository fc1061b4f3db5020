"""API keys: adds, lists, checks and revokes them; only a digest of each is stored.

A key that was created with another key is valid only while that one is. This is checked at each use, so a key that is
created while the other is revoked is not left behind.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Integer, Select, and_, bindparam, cast, exists, or_, select
from sqlalchemy.sql.dml import Insert

from feedmill.errors import NotSignedIn
from feedmill.i18n.messages import Message
from feedmill.model.timestamps import datetime_or_none, from_iso, iso_or_none, to_iso
from feedmill.model.user import ACTIVE, ApiKey, Caller, PoolGroupName, User
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, insert_selected, one_of
from feedmill.store.schema import api_key_pool_groups, api_keys, pool_groups, sessions, users
from feedmill.store.users.users import record_usage, step_to_lock_user, step_to_set_last_seen, to_user

# The prefix of every API key, by which it is told from an access token.
API_KEY_PREFIX = "fm_"
# How often the last use of a key is recorded.
USED_EVERY = timedelta(minutes=1)

_parent = api_keys.alias("parent")


def _not_ended(key: FromClause) -> ColumnElement[bool]:
    return and_(key.c.revoked_at.is_(None), or_(key.c.expires_at.is_(None), key.c.expires_at > bindparam("now")))


_holds = and_(
    _not_ended(api_keys), or_(api_keys.c.parent_key_id.is_(None), and_(_parent.c.id.is_not(None), _not_ended(_parent)))
)
_with_parent = api_keys.outerjoin(_parent, _parent.c.id == api_keys.c.parent_key_id)

# --- adding -------------------------------------------------------------------------------------------

_texts = ("name", "key_hash", "scopes", "created_at", "expires_at")
_values = (
    users.c.id,
    *(bindparam(f"new_{name}") for name in _texts),
    cast(bindparam("limited", type_=Integer), Integer),
)
_columns = ("user_id", *_texts, "limited_to_groups")
_active = and_(users.c.id == bindparam("of_user"), users.c.status == ACTIVE)


def _adding(source: Select[Any], *more: str) -> Insert:
    return Insert(api_keys).from_select([*_columns, *more], source)


ADD = _adding(select(*_values).where(_active))
ADD_IN_SESSION = _adding(
    select(*_values).where(
        _active,
        exists().where(
            sessions.c.id == bindparam("session_id"),
            sessions.c.user_id == users.c.id,
            sessions.c.expires_at > bindparam("now"),
        ),
    )
)
ADD_WITH_PARENT = _adding(
    select(*_values, _parent.c.id)
    .select_from(users.join(_parent, _parent.c.user_id == users.c.id))
    .where(_active, _parent.c.id == bindparam("parent_key_id"), _parent.c.parent_key_id.is_(None), _not_ended(_parent)),
    "parent_key_id",
)
LIMIT = insert_selected(
    api_key_pool_groups,
    select(api_keys.c.id.label("api_key"), pool_groups.c.id.label("group"))
    .select_from(api_keys.join(pool_groups, one_of(pool_groups.c.id, "groups")))
    .where(api_keys.c.key_hash == bindparam("new_key_hash")),
)

# --- checking, listing and revoking ---------------------------------------------------------------------

_key = tuple(column.label(f"key_{column.name}") for column in api_keys.c)
HOLDER = (
    select(users, *_key)
    .select_from(_with_parent.join(users, users.c.id == api_keys.c.user_id))
    .where(api_keys.c.key_hash == bindparam("key_hash"), _holds, users.c.status == ACTIVE)
)
USED = (
    api_keys.update()
    .where(
        api_keys.c.id == bindparam("api_key_id"),
        or_(api_keys.c.last_used_at.is_(None), api_keys.c.last_used_at < bindparam("older_than")),
    )
    .values(last_used_at=bindparam("now"))
)
OF_USER = (
    select(*_key)
    .select_from(_with_parent)
    .where(api_keys.c.user_id == bindparam("user_id"), _holds)
    .order_by(api_keys.c.id.desc())
)
BY_HASH = select(*_key).where(api_keys.c.key_hash == bindparam("key_hash"))
GROUPS = (
    select(api_key_pool_groups.c.api_key_id, pool_groups.c.id, pool_groups.c.name)
    .select_from(api_key_pool_groups.join(pool_groups, pool_groups.c.id == api_key_pool_groups.c.group_id))
    .where(one_of(api_key_pool_groups.c.api_key_id, "ids"))
    .order_by(pool_groups.c.name, pool_groups.c.id)
)
REVOKE_ALL = (
    api_keys.update()
    .where(api_keys.c.user_id == bindparam("of_user"), _not_ended(api_keys))
    .values(revoked_at=bindparam("now"))
)
REVOKE = REVOKE_ALL.where(api_keys.c.id == bindparam("api_key_id"))
REVOKE_CHILDREN = REVOKE_ALL.where(api_keys.c.parent_key_id == bindparam("api_key_id"))


def secret_digest(secret: str) -> str:
    """The digest that is stored of a secret. The secret is long and random, so a plain hash is enough."""
    return sha256(secret.encode()).hexdigest()


async def add_api_key(
    db: Database,
    user_id: int,
    name: str,
    secret: str,
    scopes: Iterable[str],
    now: datetime,
    expires_at: datetime | None = None,
    groups: Sequence[int] | None = None,
    maker: Caller | None = None,
) -> ApiKey:
    """Adds a key, limited to `groups` if given; raises `NotSignedIn` if the session or key of `maker` has ended."""
    at, key_hash = to_iso(now), secret_digest(secret)
    row = {
        "of_user": user_id,
        "now": at,
        "new_name": name,
        "new_key_hash": key_hash,
        "new_scopes": json.dumps(sorted(scopes)),
        "new_created_at": at,
        "new_expires_at": iso_or_none(expires_at),
        "limited": int(groups is not None),
        "groups": as_list(list(groups or ())),
    }
    # The lock orders this with revoking all keys of the user: if that came first, the session or key of `maker`
    # has ended.
    [_, added, _] = await db.batch([step_to_lock_user(user_id), _add(row, maker), Step(LIMIT, row)])
    if not added:
        raise NotSignedIn(Message("error.caller_ended"))
    [key] = await _api_keys(db, await db.query(BY_HASH, {"key_hash": key_hash}))
    return key


def _add(row: dict[str, Any], maker: Caller | None) -> Step:
    if maker is not None and maker.api_key is not None:
        return Step(ADD_WITH_PARENT, row | {"parent_key_id": maker.api_key.id})
    if maker is not None and maker.session_id is not None:
        return Step(ADD_IN_SESSION, row | {"session_id": maker.session_id})
    return Step(ADD, row)


async def api_keys_of(db: Database, user_id: int, now: datetime) -> list[ApiKey]:
    """A user's valid api_keys, the newest first."""
    return await _api_keys(db, await db.query(OF_USER, {"user_id": user_id, "now": to_iso(now)}))


async def revoke_api_key_of_user(db: Database, user_id: int, api_key_id: int, now: datetime) -> bool:
    """Revokes a key and those that were made with it; False when the user has no such key."""
    row = {"api_key_id": api_key_id, "of_user": user_id, "now": to_iso(now)}
    [revoked, _] = await db.batch([Step(REVOKE, row), Step(REVOKE_CHILDREN, row)])
    return revoked == 1


def step_to_revoke_all_api_keys(user_id: int, now: datetime) -> Step:
    """The step that revokes all api_keys of a user."""
    return Step(REVOKE_ALL, {"of_user": user_id, "now": to_iso(now)})


async def find_api_key_holder(db: Database, key_hash: str, now: datetime) -> tuple[User, ApiKey] | None:
    """The active user of the key with this digest, and the key; None if it is not valid."""
    rows = await db.query(HOLDER, {"key_hash": key_hash, "now": to_iso(now)})
    if not rows:
        return None
    [key] = await _api_keys(db, rows)
    return to_user(rows[0]), key


async def record_api_key_use(db: Database, user: User, key: ApiKey, now: datetime) -> None:
    """Records the use of a key; at most once in `USED_EVERY`."""
    if key.last_used_at is not None and key.last_used_at >= now - USED_EVERY:
        return
    at = {"now": to_iso(now), "older_than": to_iso(now - USED_EVERY)}
    await record_usage(db, [step_to_set_last_seen(user.id, now), Step(USED, at | {"api_key_id": key.id})])


async def _api_keys(db: Database, rows: Sequence[Row]) -> list[ApiKey]:
    limited = [row["key_id"] for row in rows if row["key_limited_to_groups"]]
    groups: dict[int, list[PoolGroupName]] = {id: [] for id in limited}
    for row in await db.query(GROUPS, {"ids": as_list(limited)}) if limited else []:
        groups[row["api_key_id"]].append(PoolGroupName(row["id"], row["name"]))
    return [_api_key(row, groups.get(row["key_id"])) for row in rows]


def _api_key(row: Row, groups: list[PoolGroupName] | None) -> ApiKey:
    return ApiKey(
        id=row["key_id"],
        name=row["key_name"],
        scopes=tuple(json.loads(row["key_scopes"])),
        created_at=from_iso(row["key_created_at"]),
        last_used_at=datetime_or_none(row["key_last_used_at"]),
        expires_at=datetime_or_none(row["key_expires_at"]),
        parent_key_id=row["key_parent_key_id"],
        pool_groups=None if groups is None else tuple(groups),
    )
