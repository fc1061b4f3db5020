"""Counts sign-in attempts by user name and by address, for all processes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Integer, bindparam, case, null, select

from feedmill.errors import ConstraintViolated
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert_new, one_of
from feedmill.store.schema import sign_in_attempts as attempts

# Older attempts do not count.
ATTEMPTS_KEPT_FOR = timedelta(days=1)
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)

SEEN = select(attempts).where(one_of(attempts.c.source_hash, "keys"))
BEGIN = insert_new(attempts, "source_hash", "attempts", "last_at")
# NULL undoes the batch when another attempt was counted meanwhile, so that each count lets one attempt through.
COUNT = (
    attempts.update()
    .where(attempts.c.source_hash == bindparam("key"))
    .values(
        attempts=case((attempts.c.attempts == bindparam("seen"), bindparam("following", type_=Integer)), else_=null()),
        last_at=bindparam("now"),
    )
)
FORGET = attempts.delete().where(one_of(attempts.c.source_hash, "keys"))
UNCOUNT = (
    attempts.update()
    .where(attempts.c.source_hash == bindparam("key"), attempts.c.attempts > 0)
    .values(attempts=attempts.c.attempts - 1)
)
DROP_OLD = attempts.delete().where(attempts.c.last_at < bindparam("before"))


@dataclass(frozen=True, slots=True)
class SignInAttempts:
    """The number of recent attempts, and the time of the last one."""

    count: int = 0
    last_at: datetime = LONG_AGO


async def read_sign_in_attempts(db: Database, keys: Sequence[str]) -> dict[str, SignInAttempts]:
    """The recent attempts of each key."""
    rows = await db.query(SEEN, {"keys": as_list(list(keys))})
    known = {row["source_hash"]: SignInAttempts(row["attempts"], from_iso(row["last_at"])) for row in rows}
    return {key: known.get(key, SignInAttempts()) for key in keys}


async def count_sign_in_attempt(db: Database, seen: Mapping[str, SignInAttempts], now: datetime) -> bool:
    """Counts one more attempt of each key; False when the counts are no longer those in `seen`."""
    begin = [{"source_hash": key, "attempts": 0, "last_at": to_iso(LONG_AGO)} for key in seen]
    counts = [
        {
            "key": key,
            "seen": before.count,
            "following": before.count + 1 if is_recent(before, now) else 1,
            "now": to_iso(now),
        }
        for key, before in seen.items()
    ]
    old = {"before": to_iso(now - ATTEMPTS_KEPT_FOR)}
    try:
        await db.batch([Step(BEGIN, begin), Step(COUNT, counts), Step(DROP_OLD, old)])
    except ConstraintViolated:
        return False
    return True


def is_recent(attempts: SignInAttempts, now: datetime) -> bool:
    return attempts.last_at >= now - ATTEMPTS_KEPT_FOR


def step_to_forget_attempts(keys: Sequence[str]) -> Step:
    return Step(FORGET, {"keys": as_list(list(keys))})


def step_to_uncount_attempt(key: str) -> Step:
    """The step that subtracts one attempt, after it succeeded."""
    return Step(UNCOUNT, {"key": key})
