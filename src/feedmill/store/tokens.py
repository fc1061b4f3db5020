"""Keys that people made for programs, as rows. Only a digest of each is kept."""

import json
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256

from sqlalchemy import bindparam, or_, select

from feedmill.model.account import Caller
from feedmill.model.times import to_text
from feedmill.store.accounts import to_user
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import tokens, users

# How a key begins, so that it is known for what it is.
PREFIX = "fm_"

INSERT = insert(tokens, "user_id", "name", "token_hash", "scopes", "created_at", "expires_at")
HOLDER = (
    select(users, tokens.c.scopes)
    .select_from(tokens.join(users, users.c.id == tokens.c.user_id))
    .where(
        tokens.c.token_hash == bindparam("token_hash"),
        tokens.c.revoked_at.is_(None),
        or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > bindparam("now")),
        users.c.status == "active",
    )
)


def digest(secret: str) -> str:
    """What is kept of a secret. It is long and random, so that a plain hash is enough."""
    return sha256(secret.encode()).hexdigest()


async def add_token(
    db: Database, user_id: int, name: str, secret: str, scopes: Iterable[str], now: datetime,
    expires_at: datetime | None = None,
) -> None:  # fmt: skip
    row = {
        "user_id": user_id, "name": name, "token_hash": digest(secret), "scopes": json.dumps(sorted(scopes)),
        "created_at": to_text(now), "expires_at": to_text(expires_at) if expires_at else None,
    }  # fmt: skip
    await db.batch([Step(INSERT, row)])


async def holder_of_token(db: Database, secret: str, now: datetime) -> Caller | None:
    """Whoever holds this key, if it still holds."""
    rows = await db.query(HOLDER, {"token_hash": digest(secret), "now": to_text(now)})
    return Caller(to_user(rows[0]), frozenset(json.loads(rows[0]["scopes"]))) if rows else None
