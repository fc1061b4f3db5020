"""Reads stored entries with all that the condition of a filter may ask of them."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import Integer, Select, bindparam, case, exists, func, or_, select

from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.newest_texts import newest_text, with_newest_revision
from feedmill.store.schema import entries, feeds, image_tasks

_has_picture = or_(entries.c.image_url.is_not(None), exists().where(image_tasks.c.entry_id == entries.c.id))
_entries: Select[Any] = select(
    entries.c.id,
    entries.c.feed_id,
    entries.c.sort_at,
    func.coalesce(entries.c.language, feeds.c.language).label("language"),
    case((_has_picture, 1), else_=0).label("has_picture"),
    entries.c.enclosures,
    *map(newest_text, ("link", "title", "author", "summary", "content_html")),
).select_from(with_newest_revision(entries.join(feeds, feeds.c.id == entries.c.feed_id)))
OF_IDS = _entries.where(one_of(entries.c.id, "ids"))
NEWEST = (
    _entries.where(entries.c.feed_id == bindparam("feed"))
    .order_by(entries.c.sort_at.desc(), entries.c.id.desc())
    .limit(bindparam("most", type_=Integer))
)


class FilterableEntry(Struct, frozen=True, gc=False):
    """A stored entry with its newest texts; `enclosures` is JSON."""

    id: int
    feed_id: int
    sort_at: str
    language: str | None
    has_picture: bool
    enclosures: str | None
    link: str | None
    title: str | None
    author: str | None
    summary: str | None
    content_html: str | None


async def filterable_entries(db: Database, ids: Sequence[int]) -> list[FilterableEntry]:
    """These entries, in no order. The caller checks whether the user may see them."""
    return [_to_entry(row) for row in await db.query(OF_IDS, {"ids": as_list(list(ids))})] if ids else []


async def newest_filterable_entries(db: Database, feed_id: int, most: int) -> list[FilterableEntry]:
    """The newest entries of a feed."""
    return [_to_entry(row) for row in await db.query(NEWEST, {"feed": feed_id, "most": most})]


def _to_entry(row: Row) -> FilterableEntry:
    return FilterableEntry(**{**row, "has_picture": bool(row["has_picture"])})
