"""Keys that people made for programs, as rows. Only a digest of each is kept."""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from hashlib import sha256

from sqlalchemy import bindparam, or_, select

from feedmill.model.account import ACTIVE, Caller, Token
from feedmill.model.times import from_text, moment_or_none, text_or_none, to_text
from feedmill.store.accounts import note, seen, to_user
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import tokens, users

# How a key begins, so that it is known for what it is.
PREFIX = "fm_"
# How often it is written down that a key is in use.
USED_EVERY = timedelta(minutes=1)

_holds = (
    tokens.c.revoked_at.is_(None),
    or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > bindparam("now")),
)

INSERT = insert(tokens, "user_id", "name", "token_hash", "scopes", "created_at", "expires_at")
HOLDER = (
    select(users, tokens.c.id.label("token_id"), tokens.c.scopes, tokens.c.last_used_at)
    .select_from(tokens.join(users, users.c.id == tokens.c.user_id))
    .where(tokens.c.token_hash == bindparam("token_hash"), *_holds, users.c.status == ACTIVE)
)
USED = (
    tokens.update()
    .where(
        tokens.c.id == bindparam("token_id"),
        or_(tokens.c.last_used_at.is_(None), tokens.c.last_used_at < bindparam("lately")),
    )
    .values(last_used_at=bindparam("now"))
)
OF_USER = select(tokens).where(tokens.c.user_id == bindparam("user_id"), *_holds).order_by(tokens.c.id.desc())
BY_HASH = select(tokens).where(tokens.c.token_hash == bindparam("token_hash"))
REVOKE = (
    tokens.update()
    .where(
        tokens.c.id == bindparam("token_id"), tokens.c.user_id == bindparam("of_user"), tokens.c.revoked_at.is_(None)
    )
    .values(revoked_at=bindparam("now"))
)


def digest(secret: str) -> str:
    """What is kept of a secret. It is long and random, so that a plain hash is enough."""
    return sha256(secret.encode()).hexdigest()


async def add_token(
    db: Database, user_id: int, name: str, secret: str, scopes: Iterable[str], now: datetime,
    expires_at: datetime | None = None,
) -> Token:  # fmt: skip
    row = {
        "user_id": user_id, "name": name, "token_hash": digest(secret), "scopes": json.dumps(sorted(scopes)),
        "created_at": to_text(now), "expires_at": text_or_none(expires_at),
    }  # fmt: skip
    await db.batch([Step(INSERT, row)])
    [found] = await db.query(BY_HASH, {"token_hash": digest(secret)})
    return _token(found)


async def tokens_of(db: Database, user_id: int, now: datetime) -> list[Token]:
    """A user's keys that hold, the newest first."""
    return [_token(row) for row in await db.query(OF_USER, {"user_id": user_id, "now": to_text(now)})]


async def revoke_token(db: Database, user_id: int, token_id: int, now: datetime) -> bool:
    """Takes a key back for good; False when the user has no such one."""
    return await db.batch([Step(REVOKE, {"token_id": token_id, "of_user": user_id, "now": to_text(now)})]) == [1]


async def holder_of_token(db: Database, secret: str, now: datetime) -> Caller | None:
    """Whoever holds this key, if it still holds."""
    rows = await db.query(HOLDER, {"token_hash": digest(secret), "now": to_text(now)})
    if not rows:
        return None
    [row] = rows
    used_at = moment_or_none(row["last_used_at"])
    if used_at is None or used_at < now - USED_EVERY:
        at = {"now": to_text(now), "lately": to_text(now - USED_EVERY)}
        await note(db, [Step(USED, at | {"token_id": row["token_id"]}), seen(row["id"], now)])
    user = to_user(row)
    # A key made by an admin loses that power when its maker does.
    return Caller(user, frozenset(json.loads(row["scopes"])) & user.scopes)


def _token(row: Row) -> Token:
    return Token(
        id=row["id"],
        name=row["name"],
        scopes=tuple(json.loads(row["scopes"])),
        created_at=from_text(row["created_at"]),
        last_used_at=moment_or_none(row["last_used_at"]),
        expires_at=moment_or_none(row["expires_at"]),
    )
