"""API tokens: adds, lists, checks and revokes them; only a digest of each is stored.

A token that was created with another token is valid only while that one is. This is checked at each use, so a token
that is created while the other is revoked is not left behind.
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
from feedmill.model.user import ACTIVE, ApiToken, Caller, PoolGroupName, User
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, insert_selected, one_of
from feedmill.store.schema import pool_groups, sessions, token_pool_groups, tokens, users
from feedmill.store.users.users import record_usage, step_to_lock_user, step_to_set_last_seen, to_user

# The prefix of every API token, by which it is told from an access token.
TOKEN_PREFIX = "fm_"  # noqa: S105
# How often the last use of a token is recorded.
USED_EVERY = timedelta(minutes=1)

_maker = tokens.alias("maker")


def _not_ended(key: FromClause) -> ColumnElement[bool]:
    return and_(key.c.revoked_at.is_(None), or_(key.c.expires_at.is_(None), key.c.expires_at > bindparam("now")))


_holds = and_(_not_ended(tokens), or_(tokens.c.made_by.is_(None), and_(_maker.c.id.is_not(None), _not_ended(_maker))))
_with_maker = tokens.outerjoin(_maker, _maker.c.id == tokens.c.made_by)

# --- adding -------------------------------------------------------------------------------------------

_texts = ("name", "token_hash", "scopes", "created_at", "expires_at")
_values = (
    users.c.id,
    *(bindparam(f"new_{name}") for name in _texts),
    cast(bindparam("limited", type_=Integer), Integer),
)
_columns = ("user_id", *_texts, "limited_to_groups")
_active = and_(users.c.id == bindparam("of_user"), users.c.status == ACTIVE)


def _adding(source: Select[Any], *more: str) -> Insert:
    return Insert(tokens).from_select([*_columns, *more], source)


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
ADD_WITH_KEY = _adding(
    select(*_values, _maker.c.id)
    .select_from(users.join(_maker, _maker.c.user_id == users.c.id))
    .where(_active, _maker.c.id == bindparam("made_by"), _maker.c.made_by.is_(None), _not_ended(_maker)),
    "made_by",
)
LIMIT = insert_selected(
    token_pool_groups,
    select(tokens.c.id.label("token"), pool_groups.c.id.label("group"))
    .select_from(tokens.join(pool_groups, one_of(pool_groups.c.id, "groups")))
    .where(tokens.c.token_hash == bindparam("new_token_hash")),
)

# --- checking, listing and revoking ---------------------------------------------------------------------

_key = tuple(column.label(f"key_{column.name}") for column in tokens.c)
HOLDER = (
    select(users, *_key)
    .select_from(_with_maker.join(users, users.c.id == tokens.c.user_id))
    .where(tokens.c.token_hash == bindparam("token_hash"), _holds, users.c.status == ACTIVE)
)
USED = (
    tokens.update()
    .where(
        tokens.c.id == bindparam("token_id"),
        or_(tokens.c.last_used_at.is_(None), tokens.c.last_used_at < bindparam("lately")),
    )
    .values(last_used_at=bindparam("now"))
)
OF_USER = (
    select(*_key)
    .select_from(_with_maker)
    .where(tokens.c.user_id == bindparam("user_id"), _holds)
    .order_by(tokens.c.id.desc())
)
BY_HASH = select(*_key).where(tokens.c.token_hash == bindparam("token_hash"))
GROUPS = (
    select(token_pool_groups.c.token_id, pool_groups.c.id, pool_groups.c.name)
    .select_from(token_pool_groups.join(pool_groups, pool_groups.c.id == token_pool_groups.c.group_id))
    .where(one_of(token_pool_groups.c.token_id, "ids"))
    .order_by(pool_groups.c.name, pool_groups.c.id)
)
REVOKE_ALL = (
    tokens.update()
    .where(tokens.c.user_id == bindparam("of_user"), _not_ended(tokens))
    .values(revoked_at=bindparam("now"))
)
REVOKE = REVOKE_ALL.where(tokens.c.id == bindparam("token_id"))
REVOKE_MADE_WITH = REVOKE_ALL.where(tokens.c.made_by == bindparam("token_id"))


def token_digest(secret: str) -> str:
    """The digest that is stored of a secret. The secret is long and random, so a plain hash is enough."""
    return sha256(secret.encode()).hexdigest()


async def add_token(
    db: Database,
    user_id: int,
    name: str,
    secret: str,
    scopes: Iterable[str],
    now: datetime,
    expires_at: datetime | None = None,
    groups: Sequence[int] | None = None,
    maker: Caller | None = None,
) -> ApiToken:
    """Adds a token, limited to `groups` if given; raises `NotSignedIn` if the session or token of `maker` has ended."""
    at, token_hash = to_iso(now), token_digest(secret)
    row = {
        "of_user": user_id,
        "now": at,
        "new_name": name,
        "new_token_hash": token_hash,
        "new_scopes": json.dumps(sorted(scopes)),
        "new_created_at": at,
        "new_expires_at": iso_or_none(expires_at),
        "limited": int(groups is not None),
        "groups": as_list(list(groups or ())),
    }
    # The lock orders this with revoking all tokens of the user: if that came first, the session or token of `maker`
    # has ended.
    [_, added, _] = await db.batch([step_to_lock_user(user_id), _add(row, maker), Step(LIMIT, row)])
    if not added:
        raise NotSignedIn(Message("error.caller_ended"))
    [token] = await _tokens(db, await db.query(BY_HASH, {"token_hash": token_hash}))
    return token


def _add(row: dict[str, Any], maker: Caller | None) -> Step:
    if maker is not None and maker.key is not None:
        return Step(ADD_WITH_KEY, row | {"made_by": maker.key.id})
    if maker is not None and maker.session_id is not None:
        return Step(ADD_IN_SESSION, row | {"session_id": maker.session_id})
    return Step(ADD, row)


async def tokens_of(db: Database, user_id: int, now: datetime) -> list[ApiToken]:
    """A user's valid tokens, the newest first."""
    return await _tokens(db, await db.query(OF_USER, {"user_id": user_id, "now": to_iso(now)}))


async def revoke_token(db: Database, user_id: int, token_id: int, now: datetime) -> bool:
    """Revokes a token and those that were made with it; False when the user has no such token."""
    row = {"token_id": token_id, "of_user": user_id, "now": to_iso(now)}
    [revoked, _] = await db.batch([Step(REVOKE, row), Step(REVOKE_MADE_WITH, row)])
    return revoked == 1


def step_to_revoke_all_tokens(user_id: int, now: datetime) -> Step:
    """The step that revokes all tokens of a user."""
    return Step(REVOKE_ALL, {"of_user": user_id, "now": to_iso(now)})


async def find_token_holder(db: Database, token_hash: str, now: datetime) -> tuple[User, ApiToken] | None:
    """The active user of the token with this digest, and the token; None if it is not valid."""
    rows = await db.query(HOLDER, {"token_hash": token_hash, "now": to_iso(now)})
    if not rows:
        return None
    [key] = await _tokens(db, rows)
    return to_user(rows[0]), key


async def record_token_use(db: Database, user: User, key: ApiToken, now: datetime) -> None:
    """Records the use of a token; at most once in `USED_EVERY`."""
    if key.last_used_at is not None and key.last_used_at >= now - USED_EVERY:
        return
    at = {"now": to_iso(now), "lately": to_iso(now - USED_EVERY)}
    await record_usage(db, [step_to_set_last_seen(user.id, now), Step(USED, at | {"token_id": key.id})])


async def _tokens(db: Database, rows: Sequence[Row]) -> list[ApiToken]:
    limited = [row["key_id"] for row in rows if row["key_limited_to_groups"]]
    groups: dict[int, list[PoolGroupName]] = {id: [] for id in limited}
    for row in await db.query(GROUPS, {"ids": as_list(limited)}) if limited else []:
        groups[row["token_id"]].append(PoolGroupName(row["id"], row["name"]))
    return [_token(row, groups.get(row["key_id"])) for row in rows]


def _token(row: Row, groups: list[PoolGroupName] | None) -> ApiToken:
    return ApiToken(
        id=row["key_id"],
        name=row["key_name"],
        scopes=tuple(json.loads(row["key_scopes"])),
        created_at=from_iso(row["key_created_at"]),
        last_used_at=datetime_or_none(row["key_last_used_at"]),
        expires_at=datetime_or_none(row["key_expires_at"]),
        made_by=row["key_made_by"],
        pool_groups=None if groups is None else tuple(groups),
    )
