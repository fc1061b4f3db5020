"""When chores are due, and who does them: of many processes the database picks one."""

from datetime import datetime, timedelta

from sqlalchemy import bindparam

from feedmill.model.times import to_text
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert_new
from feedmill.store.schema import facts

KNOW = insert_new(facts, "name", "value")
TAKE = (
    facts.update()
    .where(facts.c.name == bindparam("fact"), facts.c.value <= bindparam("now"))
    .values(value=bindparam("until"))
)
SET = (
    facts.update()
    .where(facts.c.name == bindparam("fact"), facts.c.value == bindparam("until"))
    .values(value=bindparam("next_at"))
)
ALWAYS = "2000-01-01T00:00:00.000Z"


async def take_chore(db: Database, name: str, now: datetime, lease: timedelta) -> datetime | None:
    """The right to do a chore that is due, until the time that comes back; None: not due, or somebody else's."""
    until = now + lease
    values = {"fact": _fact(name), "now": to_text(now), "until": to_text(until)}
    _, taken = await db.batch([Step(KNOW, {"name": _fact(name), "value": ALWAYS}), Step(TAKE, values)])
    return until if taken == 1 else None


async def set_chore(db: Database, name: str, until: datetime, next_at: datetime) -> None:
    """Says when the chore is due next, unless our right to it has ended meanwhile."""
    await db.batch([Step(SET, {"fact": _fact(name), "until": to_text(until), "next_at": to_text(next_at)})])


def _fact(name: str) -> str:
    return f"chore:{name}"
