"""Whole articles, kept beside their entries; and the entries that wait for theirs.

A lease on one that waits is a `next_attempt_at` in the future, as with deliveries.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from secrets import token_hex

from sqlalchemy import Integer, String, bindparam, select

from feedmill.model.times import to_text
from feedmill.store.columns import LongText
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, insert_selected, one_of
from feedmill.store.schema import entries, full_text_tasks, full_texts

LEASE = timedelta(seconds=180)

# From the entry, which may have been purged meanwhile.
ADD = insert_selected(
    full_texts,
    select(
        entries.c.id.label("a"), bindparam("recipe", type_=String).label("b"), bindparam("at", type_=String).label("c"),
        bindparam("url", type_=LongText).label("d"), bindparam("html", type_=LongText).label("e"),
    ).where(entries.c.id == bindparam("entry")),
)  # fmt: skip
CHANGE = (
    full_texts.update()
    .where(full_texts.c.entry_id == bindparam("entry"), full_texts.c.recipe == bindparam("recipe"))
    .values(fetched_at=bindparam("at"), url=bindparam("url"), content_html=bindparam("html"))
)

# --- those that wait --------------------------------------------------------------------------------------

_of = full_text_tasks.c
_due = _of.next_attempt_at <= bindparam("now")
WAITING = (
    select(_of.entry_id).where(_due).order_by(_of.next_attempt_at, _of.entry_id).limit(bindparam("most", type_=Integer))
)
TAKE = (
    full_text_tasks.update()
    .where(one_of(_of.entry_id, "ids"), _due)
    .values(claim_token=bindparam("token"), next_attempt_at=bindparam("until"))
)
MINE = (
    select(_of.entry_id, _of.attempts, entries.c.feed_id, entries.c.link)
    .join(entries, entries.c.id == _of.entry_id)
    .where(_of.claim_token == bindparam("token"))
    .order_by(_of.entry_id)
)
_mine = (_of.entry_id == bindparam("entry"), _of.claim_token == bindparam("token"))
DONE = full_text_tasks.delete().where(*_mine)
AGAIN = (
    full_text_tasks.update()
    .where(*_mine)
    .values(attempts=_of.attempts + bindparam("tries", type_=Integer), claim_token=None)
    .values(next_attempt_at=bindparam("again_at"))
)
LET_GO = (
    full_text_tasks.update()
    .where(_of.claim_token == bindparam("token"))
    .values(claim_token=None, next_attempt_at=bindparam("again_at"))
)


async def keep_full_texts(db: Database, entry_id: int, url: str, by_recipe: Mapping[str, str], now: datetime) -> None:
    """Keeps the article that was found at `url`, cut in each of these ways, in place of what was kept before."""
    same = {"entry": entry_id, "at": to_text(now), "url": url}
    rows = [same | {"recipe": recipe, "html": html} for recipe, html in by_recipe.items()]
    await db.batch([Step(ADD, rows), Step(CHANGE, rows)])


async def take_waiting(db: Database, now: datetime, most: int) -> tuple[str, list[Row]]:
    """Some entries whose article is due, and the token that settles them; nobody else has them during the lease."""
    token = token_hex(16)
    waiting = await db.query(WAITING, {"now": to_text(now), "most": most})
    if not waiting:
        return token, []
    values = {"ids": as_list([row["entry_id"] for row in waiting]), "token": token, "until": to_text(now + LEASE)}
    await db.batch([Step(TAKE, values | {"now": to_text(now)})])
    return token, await db.query(MINE, {"token": token})


async def settle(db: Database, entry_id: int, token: str) -> None:
    """The entry waits no more."""
    await db.batch([Step(DONE, {"entry": entry_id, "token": token})])


async def settle_missed(db: Database, entry_id: int, token: str, again_at: datetime, *, counted: bool) -> None:
    """The entry waits until then."""
    values = {"entry": entry_id, "token": token, "again_at": to_text(again_at), "tries": int(counted)}
    await db.batch([Step(AGAIN, values)])


async def let_go(db: Database, token: str, now: datetime) -> None:
    """Gives back what was taken and not settled."""
    await db.batch([Step(LET_GO, {"token": token, "again_at": to_text(now)})])
