"""Reads the revisions of an entry; number 0 is the entry as it first came."""

from msgspec import Struct
from sqlalchemy import bindparam, select

from feedmill.store.database import Database
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


class RevisionText(Struct, frozen=True, gc=False):
    """The texts of one version of an entry."""

    seen_at: str
    link: str | None
    title: str | None
    author: str | None
    summary: str | None
    content_html: str | None

    @property
    def html(self) -> str:
        """The fullest text that there is."""
        return self.content_html or self.summary or ""


class RevisionHeading(Struct, frozen=True, gc=False):
    """Number, time and title of one version of an entry."""

    number: int
    seen_at: str
    title: str | None


async def read_revision(db: Database, entry_id: int, number: int) -> RevisionText | None:
    """The texts of one version; None when there is no such version."""
    params = {"entry_id": entry_id, "number": number}
    rows = await db.query(LATER if number else FIRST, params)
    return RevisionText(**rows[0]) if rows else None


async def list_revisions(db: Database, entry_id: int) -> list[RevisionHeading]:
    """All versions but the first."""
    return [RevisionHeading(**row) for row in await db.query(LATER_ONES, {"entry_id": entry_id})]
