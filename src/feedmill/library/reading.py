"""Lists of entries, page by page."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from feedmill.collect.html import plain_text
from feedmill.library.cursors import to_cursor
from feedmill.model.reading import EVERYTHING, Order, Place, Scope, View
from feedmill.store.database import Database, Row
from feedmill.store.labels import labels_of_entries
from feedmill.store.listing import STARTS, find_page
from feedmill.store.shown import newest_id, shown_entries

LONGEST_EXCERPT = 300


@dataclass(frozen=True, slots=True)
class Label:
    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry as a list shows it. No `subscription_id`: the feed is no longer subscribed to."""

    id: int
    subscription_id: int | None
    feed_title: str | None
    title: str
    link: str | None
    author: str | None
    excerpt: str
    image_url: str | None
    language: str | None
    published_at: str | None
    sort_at: str
    unread: bool
    read_at: str | None
    starred: bool
    later: bool
    later_until: str | None
    labels: tuple[Label, ...]
    revisions: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """A page of a list, beyond the place where the last one ended."""

    view: View = View.UNREAD
    scope: Scope = EVERYTHING
    order: Order = Order.NEWEST
    beyond: Place | None = None
    most: int = 50


@dataclass(frozen=True, slots=True)
class Page:
    """`next` is None on the last page. No entry that came after `as_of` is in it."""

    items: list[Listed]
    next: str | None
    as_of: int


async def list_entries(db: Database, user_id: int, wanted: Wanted, now: datetime) -> Page:
    """The next entries of a view."""
    # Before the page is read: what comes in between must not count as seen.
    as_of = await newest_id(db)
    places = await _places(db, user_id, wanted, now)
    ids = [place.entry_id for place in places[: wanted.most]]
    is_last = len(places) <= wanted.most
    items = await listed(db, user_id, ids)
    return Page(items, None if is_last else to_cursor(places[wanted.most - 1]), as_of)


async def listed(db: Database, user_id: int, ids: Sequence[int]) -> list[Listed]:
    """These entries as lists show them, in the same order, without those that the user may not see."""
    if not ids:
        return []
    rows, borne = await asyncio.gather(shown_entries(db, user_id, ids), labels_of_entries(db, user_id, ids))
    labels: dict[int, list[Label]] = {}
    for label in borne:
        labels.setdefault(label["entry_id"], []).append(Label(label["id"], label["name"]))
    return [_listed(rows[id], labels.get(id, [])) for id in ids if id in rows]


async def _places(db: Database, user_id: int, wanted: Wanted, now: datetime) -> list[Place]:
    """Those of the page, and one more if there is more."""
    beyond = wanted.beyond or STARTS[wanted.order]
    return await find_page(db, user_id, wanted.view, wanted.scope, wanted.order, beyond, wanted.most + 1, now)


def _listed(row: Row, labels: list[Label]) -> Listed:
    return Listed(
        id=row["id"],
        subscription_id=row["subscription_id"],
        feed_title=row["feed_title"],
        title=one_line(row["title"]),
        link=row["link"],
        author=row["author"],
        excerpt=plain_text(row["summary"] or "", LONGEST_EXCERPT),
        image_url=row["image_url"],
        language=row["language"],
        published_at=row["published_at"],
        sort_at=row["sort_at"],
        unread=bool(row["is_unread"]),
        read_at=row["read_at"],
        starred=row["starred_at"] is not None,
        later=row["later_at"] is not None,
        later_until=row["later_until"],
        labels=tuple(labels),
        revisions=row["revision_count"],
    )


def one_line(title: str | None) -> str:
    """A title as plain text."""
    if not title:
        return ""
    return plain_text(title, None) if "<" in title or "&" in title else " ".join(title.split())
