"""Reads the revisions of an entry; number 0 is the entry as it first came."""

from sqlalchemy import bindparam, select

from feedmill.store.database import Database, Row
from feedmill.store.schema import entries, revisions

_TEXTS = ("link", "title", "author", "summary", "content_html")
_first = entries.c.id == bindparam("entry_id")
_later = revisions.c.entry_id == bindparam("entry_id")
FIRST = select(entries.c.first_seen_at.label("seen_at"), *(entries.c[name] for name in _TEXTS)).where(_first)
LATER = select(revisions.c.seen_at, *(revisions.c[name] for name in _TEXTS)).where(
    _later, revisions.c.number == bindparam("number")
)
LATER_ONES = (
    select(revisions.c.number, revisions.c.seen_at, revisions.c.title).where(_later).order_by(revisions.c.number)
)


async def read_revision(db: Database, entry_id: int, number: int) -> Row | None:
    """The texts of one version; None when there is no such."""
    params = {"entry_id": entry_id, "number": number}
    rows = await db.query(LATER if number else FIRST, params)
    return rows[0] if rows else None


async def list_revisions(db: Database, entry_id: int) -> list[Row]:
    """Number, time and title of each revision."""
    return await db.query(LATER_ONES, {"entry_id": entry_id})
