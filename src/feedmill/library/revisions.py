"""What a feed made of an entry over time, and what it changed."""

import asyncio
from typing import NamedTuple

from msgspec import Struct

from feedmill.collect.html import plain_text
from feedmill.library.article import find_entry, find_version
from feedmill.library.difference import Piece, difference
from feedmill.library.reading import one_line
from feedmill.store.database import Database, Row
from feedmill.store.versions import later_versions


class Version(Struct, frozen=True, gc=False):
    """`number` 0 is the entry as it first came."""

    number: int
    seen_at: str
    title: str


class Difference(NamedTuple):
    """The pieces of both versions: of the title, and of the text without its markup."""

    title: list[Piece]
    text: list[Piece]


async def versions_of(db: Database, user_id: int, entry_id: int) -> list[Version]:
    """The versions of an entry, the first one first."""
    entry = await find_entry(db, user_id, entry_id)
    first = Version(0, entry["first_seen_at"], one_line(entry["title"]))
    later = await later_versions(db, entry_id)
    return [first, *(Version(row["number"], row["seen_at"], one_line(row["title"])) for row in later)]


async def compare_versions(db: Database, user_id: int, entry_id: int, old: int, new: int) -> Difference:
    """What changed from one version to another."""
    await find_entry(db, user_id, entry_id)
    before, after = await find_version(db, entry_id, old), await find_version(db, entry_id, new)
    title = difference(one_line(before["title"]), one_line(after["title"]))
    return Difference(title, await asyncio.to_thread(difference, _text(before), _text(after)))


async def original_html(db: Database, user_id: int, entry_id: int) -> str:
    """The text of an entry as it first came."""
    entry = await find_entry(db, user_id, entry_id)
    return entry["content_html"] or entry["summary"] or ""


def _text(version: Row) -> str:
    return plain_text(version["content_html"] or version["summary"] or "", None)
