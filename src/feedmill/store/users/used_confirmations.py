"""Which confirmation tokens were used: a lock for each, which nobody releases before the token has expired."""

from datetime import datetime
from secrets import token_hex

from sqlalchemy import bindparam

from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.locks import INSERT, OWNER
from feedmill.store.schema import locks

PREFIX = "confirmation:"
DROP_EXPIRED = locks.delete().where(locks.c.name.like(f"{PREFIX}%"), locks.c.until <= bindparam("now"))


async def use_confirmation(db: Database, digest: str, expires_at: datetime, now: datetime) -> bool:
    """Notes that the token with this digest was used; False if it was used before. Drops those that have expired."""
    name, use = f"{PREFIX}{digest}", token_hex(16)
    await db.batch(
        [
            Step(DROP_EXPIRED, {"now": to_iso(now)}),
            Step(INSERT, {"name": name, "token": use, "until": to_iso(expires_at)}),
        ]
    )
    owner = await db.query(OWNER, {"key": name})
    return bool(owner) and owner[0]["token"] == use
