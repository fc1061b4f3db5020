"""Reads single entries and the latest of a feed, without checking who asks (command line, image archive).

`feedmill show --json` prints these structs. Scripts rely on the names of their fields: add some, rename none.
"""

from collections.abc import Sequence

import msgspec
from msgspec import Struct
from sqlalchemy import bindparam, select

from feedmill.model.parsed_feed import Enclosure
from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import entries, feeds, image_tasks, revisions

LATEST = (
    select(
        entries.c.id,
        entries.c.guid,
        entries.c.link,
        entries.c.title,
        entries.c.author,
        entries.c.sort_at,
        entries.c.published_at,
        entries.c.undated,
        entries.c.in_feed,
        entries.c.revision_count,
    )
    .where(entries.c.feed_id == bindparam("feed_id"))
    .order_by(entries.c.sort_at.desc(), entries.c.id.desc())
    .limit(bindparam("most"))
)
# For the refresh alone.
_INTERNAL = ("refresh_token", "digest")
_stored = select(
    *(column for column in entries.c if column.name not in _INTERNAL),
    feeds.c.url.label("feed_url"),
    feeds.c.title.label("feed_title"),
).join(feeds, feeds.c.id == entries.c.feed_id)
ONE = _stored.where(entries.c.id == bindparam("entry_id"))
MANY = _stored.where(one_of(entries.c.id, "ids")).order_by(entries.c.id)
REVISIONS = (
    select(*(column for column in revisions.c if column.name not in _INTERNAL))
    .where(revisions.c.entry_id == bindparam("entry_id"))
    .order_by(revisions.c.number)
)
IMAGES = (
    select(image_tasks.c.position, image_tasks.c.original_url, image_tasks.c.status, image_tasks.c.object_key)
    .where(image_tasks.c.entry_id == bindparam("entry_id"))
    .order_by(image_tasks.c.position)
)


class LatestEntry(Struct, frozen=True, gc=False):
    """An entry of a feed without its texts."""

    id: int
    guid: str
    link: str | None
    title: str | None
    author: str | None
    sort_at: str
    published_at: str | None
    undated: bool
    in_feed: bool
    revision_count: int


class StoredEntry(Struct, frozen=True, gc=False):
    """An entry as it first came, and where its feed is."""

    id: int
    feed_id: int
    guid: str
    sort_at: str
    in_feed: bool
    first_seen_at: str
    last_seen_at: str
    published_at: str | None
    undated: bool
    updated_at: str | None
    revision_count: int
    language: str | None
    link: str | None
    title: str | None
    author: str | None
    image_url: str | None
    comments_url: str | None
    base_url: str | None
    categories: tuple[str, ...]
    enclosures: tuple[Enclosure, ...]
    summary: str | None
    content_html: str | None
    feed_url: str
    feed_title: str | None


class StoredRevision(Struct, frozen=True, gc=False):
    """A later text of an entry."""

    id: int
    entry_id: int
    number: int
    seen_at: str
    link: str | None
    title: str | None
    author: str | None
    summary: str | None
    content_html: str | None


class EntryImage(Struct, frozen=True, gc=False):
    """An image of an entry; it has an `object_key` once it is archived."""

    position: int
    original_url: str
    status: str
    object_key: str | None


async def latest_entries(db: Database, feed_id: int, most: int) -> list[LatestEntry]:
    """The newest entries of a feed."""
    rows = await db.query(LATEST, {"feed_id": feed_id, "most": most})
    return [LatestEntry(**{**row, "in_feed": bool(row["in_feed"]), "undated": bool(row["undated"])}) for row in rows]


async def read_entry(db: Database, entry_id: int) -> StoredEntry | None:
    rows = await db.query(ONE, {"entry_id": entry_id})
    return _to_stored_entry(rows[0]) if rows else None


async def read_entries(db: Database, ids: Sequence[int]) -> list[StoredEntry]:
    """Those of these entries that are there, by id."""
    return [_to_stored_entry(row) for row in await db.query(MANY, {"ids": as_list(list(ids))})] if ids else []


async def revisions_of(db: Database, entry_id: int) -> list[StoredRevision]:
    """The later texts of an entry, the first change first."""
    return [StoredRevision(**row) for row in await db.query(REVISIONS, {"entry_id": entry_id})]


async def images_of(db: Database, entry_id: int) -> list[EntryImage]:
    return [EntryImage(**row) for row in await db.query(IMAGES, {"entry_id": entry_id})]


def decode_categories(stored: str | None) -> tuple[str, ...]:
    return msgspec.json.decode(stored, type=tuple[str, ...]) if stored else ()


def decode_enclosures(stored: str | None) -> tuple[Enclosure, ...]:
    return msgspec.json.decode(stored, type=tuple[Enclosure, ...]) if stored else ()


def _to_stored_entry(row: Row) -> StoredEntry:
    decoded = {
        "in_feed": bool(row["in_feed"]),
        "undated": bool(row["undated"]),
        "categories": decode_categories(row["categories"]),
        "enclosures": decode_enclosures(row["enclosures"]),
    }
    return StoredEntry(**{**row, **decoded})
