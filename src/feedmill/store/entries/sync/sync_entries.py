"""Reads entries with their newest texts for programs that synchronize, if the user subscribes to their feeds."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import and_, bindparam, case, func, select

from feedmill.model.parsed_feed import Enclosure
from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.newest_texts import newest_text, with_newest_revision
from feedmill.store.entries.read_entries import decode_categories, decode_enclosures
from feedmill.store.entries.unread_list_sql import UNREAD_LIST_ID, of_user
from feedmill.store.schema import entries, entry_labels, feeds, labels, states, subscriptions, unread

_own_state = and_(states.c.entry_id == entries.c.id, states.c.user_id == bindparam("of_user"))
_unread_row = and_(
    unread.c.list_id == UNREAD_LIST_ID, unread.c.sort_at == entries.c.sort_at, unread.c.entry_id == entries.c.id
)
_columns = ("id", "guid", "first_seen_at", "published_at", "base_url", "categories", "enclosures", "comments_url")
_source = (
    with_newest_revision(
        entries.join(subscriptions, and_(subscriptions.c.feed_id == entries.c.feed_id, of_user)).join(
            feeds, feeds.c.id == entries.c.feed_id
        )
    )
    .outerjoin(states, _own_state)
    .outerjoin(unread, _unread_row)
)
ENTRIES = (
    select(
        *(entries.c[name] for name in _columns),
        *(newest_text(name) for name in ("title", "link", "author", "summary", "content_html")),
        subscriptions.c.id.label("subscription_id"),
        func.coalesce(subscriptions.c.title, feeds.c.own_title, feeds.c.title).label("feed_title"),
        feeds.c.site_url,
        states.c.read_at,
        states.c.starred_at,
        case((unread.c.entry_id.is_(None), 0), else_=1).label("is_unread"),
    )
    .select_from(_source)
    .where(one_of(entries.c.id, "ids"))
)
LABELS = (
    select(entry_labels.c.entry_id, labels.c.name)
    .join_from(entry_labels, labels, labels.c.id == entry_labels.c.label_id)
    .where(one_of(entry_labels.c.entry_id, "ids"), labels.c.user_id == bindparam("of_user"))
    .order_by(labels.c.name)
)


class SyncedEntry(Struct, frozen=True, gc=False):
    """An entry with its newest text and the user's states. Times are strings, as in the row."""

    id: int
    guid: str
    subscription_id: int
    feed_title: str | None
    site_url: str | None
    title: str | None
    link: str | None
    author: str | None
    html: str
    base_url: str | None
    comments_url: str | None
    published_at: str | None
    first_seen_at: str
    read_at: str | None
    starred_at: str | None
    is_unread: bool
    categories: tuple[str, ...]
    enclosures: tuple[Enclosure, ...]
    labels: tuple[str, ...]

    @property
    def dated_at(self) -> str:
        """When it was published; if that is unknown, when it was first seen."""
        return self.published_at or self.first_seen_at


async def read_synced_entries(db: Database, user_id: int, ids: Sequence[int]) -> list[SyncedEntry]:
    """Those of these entries that are of feeds to which the user subscribes, in the order of `ids`."""
    if not ids:
        return []
    params: dict[str, Any] = {"of_user": user_id, "ids": as_list(list(ids))}
    names: dict[int, list[str]] = {}
    for row in await db.query(LABELS, params):
        names.setdefault(row["entry_id"], []).append(row["name"])
    found = {row["id"]: _to_entry(row, names.get(row["id"], ())) for row in await db.query(ENTRIES, params)}
    return [found[id] for id in dict.fromkeys(ids) if id in found]


def _to_entry(row: Row, names: Sequence[str]) -> SyncedEntry:
    return SyncedEntry(
        id=row["id"],
        guid=row["guid"],
        subscription_id=row["subscription_id"],
        feed_title=row["feed_title"],
        site_url=row["site_url"],
        title=row["title"],
        link=row["link"],
        author=row["author"],
        html=row["content_html"] or row["summary"] or "",
        base_url=row["base_url"],
        comments_url=row["comments_url"],
        published_at=row["published_at"],
        first_seen_at=row["first_seen_at"],
        read_at=row["read_at"],
        starred_at=row["starred_at"],
        is_unread=bool(row["is_unread"]),
        categories=decode_categories(row["categories"]),
        enclosures=decode_enclosures(row["enclosures"]),
        labels=tuple(names),
    )
