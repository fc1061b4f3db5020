"""Lists the revisions of an entry and compares two of them."""

import asyncio
from typing import NamedTuple

from msgspec import Struct

from feedmill.html.plain_text import plain_text
from feedmill.library.entries.article import find_entry, find_revision
from feedmill.library.entries.list_entries import one_line
from feedmill.library.entries.text_diff import DiffPiece, diff_text
from feedmill.store.database import Database
from feedmill.store.entries.read_revisions import RevisionText, list_revisions


class RevisionSummary(Struct, frozen=True, gc=False):
    """`number` 0 is the entry as it first came."""

    number: int
    seen_at: str
    title: str


class RevisionDiff(NamedTuple):
    """The difference of two versions: of the title, and of the plain text."""

    title: list[DiffPiece]
    text: list[DiffPiece]


async def revisions_of(db: Database, user_id: int, entry_id: int) -> list[RevisionSummary]:
    """The versions of an entry, the first one first."""
    entry = await find_entry(db, user_id, entry_id)
    first = RevisionSummary(0, entry.first_seen_at, one_line(entry.title))
    later = await list_revisions(db, entry_id)
    return [first, *(RevisionSummary(each.number, each.seen_at, one_line(each.title)) for each in later)]


async def diff_revisions(db: Database, user_id: int, entry_id: int, old: int, new: int) -> RevisionDiff:
    """What changed from one version to another."""
    await find_entry(db, user_id, entry_id)
    before, after = await find_revision(db, entry_id, old), await find_revision(db, entry_id, new)
    return await asyncio.to_thread(_difference, before, after)


async def original_html(db: Database, user_id: int, entry_id: int) -> str:
    """The text of an entry as it first came."""
    entry = await find_entry(db, user_id, entry_id)
    return entry.content_html or entry.summary or ""


def _difference(before: RevisionText, after: RevisionText) -> RevisionDiff:
    title = diff_text(one_line(before.title), one_line(after.title))
    return RevisionDiff(title, diff_text(plain_text(before.html, None), plain_text(after.html, None)))
