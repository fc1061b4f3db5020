"""Full texts of articles, and the queue of entries whose article is to be fetched."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from sqlalchemy import Integer, String, bindparam, select

from feedmill.model.timestamps import to_iso
from feedmill.store.columns import LongText
from feedmill.store.database import Database, Step
from feedmill.store.dialect import InsertNew, as_list, insert_selected, one_of
from feedmill.store.leases import Leases
from feedmill.store.schema import entries, full_text_tasks, full_texts

# Selected from the entry: it may have been purged in the meantime.
ADD = insert_selected(
    full_texts,
    select(
        entries.c.id.label("a"),
        bindparam("selector_digest", type_=String).label("b"),
        bindparam("at", type_=String).label("c"),
        bindparam("url", type_=LongText).label("d"),
        bindparam("html", type_=LongText).label("e"),
    ).where(entries.c.id == bindparam("entry")),
)
CHANGE = (
    full_texts.update()
    .where(full_texts.c.entry_id == bindparam("entry"), full_texts.c.selector_digest == bindparam("selector_digest"))
    .values(fetched_at=bindparam("at"), url=bindparam("url"), content_html=bindparam("html"))
)


async def save_full_texts(
    db: Database, entry_id: int, url: str, by_selector_digest: Mapping[str, str], now: datetime
) -> None:
    """Stores the article of the page at `url` by selector_digest, in place of earlier ones."""
    same = {"entry": entry_id, "at": to_iso(now), "url": url}
    rows = [
        same | {"selector_digest": selector_digest, "html": html}
        for selector_digest, html in by_selector_digest.items()
    ]
    await db.batch([Step(ADD, rows), Step(CHANGE, rows)])


# --- queue ------------------------------------------------------------------------------------------------

_new_entries = (entries.c.feed_id == bindparam("feed"), one_of(entries.c.guid, "guids"))
QUEUE = InsertNew(full_text_tasks).from_select(
    ["entry_id", "next_attempt_at"],
    select(entries.c.id, bindparam("at")).where(*_new_entries, entries.c.link.is_not(None)),
)
_of = full_text_tasks.c
_due = _of.next_attempt_at <= bindparam("now")
WAITING = (
    select(_of.entry_id).where(_due).order_by(_of.next_attempt_at, _of.entry_id).limit(bindparam("most", type_=Integer))
)
CLAIMED = (
    select(_of.entry_id, _of.attempts, entries.c.feed_id, entries.c.link)
    .join(entries, entries.c.id == _of.entry_id)
    .order_by(_of.entry_id)
)
LEASES = Leases(full_text_tasks, _of.entry_id, _due, WAITING, CLAIMED)
release_full_text_tasks = LEASES.release
_claimed = (_of.entry_id == bindparam("entry"), _of.claim_token == bindparam("token"))
DONE = full_text_tasks.delete().where(*_claimed)
POSTPONE = (
    full_text_tasks.update()
    .where(*_claimed)
    .values(attempts=_of.attempts + bindparam("new_attempts", type_=Integer), claim_token=None)
    .values(next_attempt_at=bindparam("again_at"))
)


class FullTextTask(Struct, frozen=True, gc=False):
    """An entry whose article is to be fetched from its link."""

    entry_id: int
    attempts: int
    feed_id: int
    link: str | None


async def take_full_text_tasks(db: Database, now: datetime, most: int) -> tuple[str, list[FullTextTask]]:
    """Claims entries whose article is due; the token completes or releases them."""
    token, rows = await LEASES.take(db, now, most=most)
    return token, [FullTextTask(**row) for row in rows]


async def finish_full_text_task(db: Database, entry_id: int, token: str) -> None:
    """Removes the entry from the queue."""
    await db.batch([Step(DONE, {"entry": entry_id, "token": token})])


async def postpone_full_text_task(
    db: Database, entry_id: int, token: str, again_at: datetime, *, counted: bool
) -> None:
    """Keeps the entry in the queue until `again_at`; `counted`: this was an attempt."""
    values = {"entry": entry_id, "token": token, "again_at": to_iso(again_at), "new_attempts": int(counted)}
    await db.batch([Step(POSTPONE, values)])


def steps_to_queue_full_texts(feed_id: int, guids: Sequence[str], now: datetime) -> list[Step]:
    """Queues the full texts of these new entries."""
    params = {"feed": feed_id, "guids": as_list(list(guids)), "at": to_iso(now)}
    return [Step(QUEUE, params)] if guids else []
