"""Reads entries with their newest texts for output feeds: those that a user may see, or those of a pool group."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import Select, and_, bindparam, exists, func, select

from feedmill.model.filters.entry_filter import FilterAction
from feedmill.model.parsed_feed import Enclosure
from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.newest_texts import newest_text, with_newest_revision
from feedmill.store.entries.read_entries import decode_categories, decode_enclosures
from feedmill.store.entries.unread_list_sql import of_user
from feedmill.store.entries.visibility import is_visible
from feedmill.store.schema import entries, feeds, filter_effects, full_texts, pool_items, revisions, subscriptions
from feedmill.store.subscriptions.feed_settings import decode_settings

_COLUMNS = (
    "id",
    "feed_id",
    "first_seen_at",
    "published_at",
    "undated",
    "updated_at",
    "image_url",
    "base_url",
    "comments_url",
    "categories",
    "enclosures",
)
_source = with_newest_revision(
    entries.join(feeds, feeds.c.id == entries.c.feed_id).outerjoin(
        subscriptions, and_(subscriptions.c.feed_id == entries.c.feed_id, of_user)
    )
)
_entries = (
    select(
        *(entries.c[name] for name in _COLUMNS),
        *(newest_text(name) for name in ("title", "link", "author", "summary", "content_html")),
        revisions.c.seen_at.label("revised_at"),
        func.coalesce(entries.c.language, feeds.c.language).label("language"),
        func.coalesce(subscriptions.c.title, feeds.c.own_title, feeds.c.title).label("feed_title"),
        feeds.c.site_url,
        subscriptions.c.settings,
    )
    .select_from(_source)
    .where(one_of(entries.c.id, "ids"))
)
OF_USER = _entries.where(is_visible(bindparam("of_user")))
# By the primary key.
_is_hidden = exists().where(
    filter_effects.c.user_id == bindparam("of_user"),
    filter_effects.c.action == FilterAction.HIDE,
    filter_effects.c.entry_id == entries.c.id,
)
SHOWN_TO_USER = OF_USER.where(~_is_hidden)
_in_group = and_(pool_items.c.group_id == bindparam("group_id"), pool_items.c.entry_id == entries.c.id)
OF_POOL_GROUP = _entries.where(exists().where(_in_group))
FULL_TEXTS = select(
    full_texts.c.entry_id, full_texts.c.selector_digest, full_texts.c.content_html, full_texts.c.url
).where(one_of(full_texts.c.entry_id, "ids"))


class OutputEntryText(Struct, frozen=True, gc=False):
    """An entry of an output feed with its newest text. Times are strings, as in the row.

    `html` is the full text of the linked page if it was fetched as the user's settings say.
    """

    id: int
    feed_id: int
    feed_title: str | None
    site_url: str | None
    title: str | None
    link: str | None
    author: str | None
    html: str
    base_url: str | None
    language: str | None
    image_url: str | None
    comments_url: str | None
    categories: tuple[str, ...]
    enclosures: tuple[Enclosure, ...]
    first_seen_at: str
    published_at: str | None
    updated_at: str


async def read_entries_of_user(
    db: Database, user_id: int, ids: Sequence[int], *, with_hidden: bool
) -> list[OutputEntryText]:
    """Those of these entries that the user may see, in the order of `ids`.

    Without `with_hidden`, those that the user's filters hide are left out.
    """
    full = await _full_texts(db, ids)
    return await _read(db, OF_USER if with_hidden else SHOWN_TO_USER, {"of_user": user_id}, ids, full)


async def read_entries_of_pool_group(
    db: Database, user_id: int, group_id: int, ids: Sequence[int]
) -> list[OutputEntryText]:
    """Those of these entries that are in the pool group, in the order of `ids`; with the user's titles of feeds."""
    return await _read(db, OF_POOL_GROUP, {"of_user": user_id, "group_id": group_id}, ids, {})


FullTexts = Mapping[tuple[int, str], tuple[str, str]]
"""By entry and digest of the selectors: the text of the page, and its URL."""


async def _full_texts(db: Database, ids: Sequence[int]) -> FullTexts:
    rows = await db.query(FULL_TEXTS, {"ids": as_list(list(ids))}) if ids else []
    return {(row["entry_id"], row["selector_digest"]): (row["content_html"], row["url"]) for row in rows}


async def _read(
    db: Database, statement: Select[Any], params: dict[str, int], ids: Sequence[int], full: FullTexts
) -> list[OutputEntryText]:
    rows = await db.query(statement, {**params, "ids": as_list(list(ids))}) if ids else []
    found = {row["id"]: _to_entry(row, full) for row in rows}
    return [found[id] for id in ids if id in found]


def _to_entry(row: Row, full: FullTexts) -> OutputEntryText:
    digest = decode_settings(row["settings"]).selector_digest if full else ""
    own_text = (row["content_html"] or row["summary"] or "", row["base_url"])
    html, base_url = full.get((row["id"], digest), own_text)
    same = {name: row[name] for name in ("id", "feed_id", "feed_title", "site_url", "title", "link", "author")}
    published_at = None if row["undated"] else row["published_at"]
    return OutputEntryText(
        **same,
        html=html,
        base_url=base_url,
        language=row["language"],
        image_url=row["image_url"],
        comments_url=row["comments_url"],
        categories=decode_categories(row["categories"]),
        enclosures=decode_enclosures(row["enclosures"]),
        first_seen_at=row["first_seen_at"],
        published_at=published_at,
        updated_at=row["revised_at"] or row["updated_at"] or published_at or row["first_seen_at"],
    )
