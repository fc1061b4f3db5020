"""Reads entries that a user may see (`visibility.py`), with the user's states and labels."""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from msgspec import Struct
from sqlalchemy import FromClause, Join, Select, and_, bindparam, case, exists, func, select

from feedmill.model.entry_marks import EntryLabel
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.filters.entry_filter import FilterAction
from feedmill.model.parsed_feed import Enclosure
from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, one_of
from feedmill.store.entries.read_entries import decode_categories, decode_enclosures
from feedmill.store.entries.unread_list_sql import UNREAD_LIST_ID, of_user
from feedmill.store.entries.visibility import has_label_of, is_visible_row
from feedmill.store.schema import (
    entries,
    entry_labels,
    feeds,
    filter_effects,
    full_texts,
    labels,
    states,
    subscriptions,
    unread,
)
from feedmill.store.subscriptions.feed_settings import decode_settings

# Characters; enough for a few lines of text with their tags.
BEGINNING = 2000

_subscribed = and_(subscriptions.c.feed_id == entries.c.feed_id, of_user)
_own_state = and_(states.c.entry_id == entries.c.id, states.c.user_id == bindparam("of_user"))
_unread_row = and_(
    unread.c.list_id == UNREAD_LIST_ID, unread.c.sort_at == entries.c.sort_at, unread.c.entry_id == entries.c.id
)
_is_raised = exists().where(
    filter_effects.c.user_id == bindparam("of_user"),
    filter_effects.c.action == FilterAction.RAISE,
    filter_effects.c.entry_id == entries.c.id,
)
_own_label = labels.c.user_id == bindparam("of_user")
_may_see = is_visible_row(has_label_of(bindparam("of_user")))


def _with_user_columns(source: FromClause) -> Join:
    """Joins the user's subscription, states and unread row to a source that contains entries."""
    return (
        source.join(feeds, feeds.c.id == entries.c.feed_id)
        .outerjoin(subscriptions, _subscribed)
        .outerjoin(states, _own_state)
        .outerjoin(unread, _unread_row)
    )


def _with_labels(source: Join) -> Join:
    """One row per label of an entry, at least one; the label's columns are NULL unless it is the user's."""
    return source.outerjoin(entry_labels, entry_labels.c.entry_id == entries.c.id).outerjoin(
        labels, and_(labels.c.id == entry_labels.c.label_id, _own_label)
    )


_entries_of_user = _with_user_columns(entries)
# The content has database pages of its own. It is read only if there is no summary, and then only its beginning.
_beginning = func.coalesce(entries.c.summary, func.substr(entries.c.content_html, 1, BEGINNING))
_listed = select(
    entries.c.id,
    entries.c.feed_id,
    entries.c.guid,
    subscriptions.c.id.label("subscription_id"),
    func.coalesce(subscriptions.c.title, feeds.c.own_title, feeds.c.title).label("feed_title"),
    entries.c.title,
    entries.c.link,
    entries.c.author,
    _beginning.label("beginning"),
    case((entries.c.summary.is_(None), 0), else_=1).label("has_summary"),
    entries.c.image_url,
    func.coalesce(entries.c.language, feeds.c.language).label("language"),
    entries.c.published_at,
    entries.c.undated,
    entries.c.sort_at,
    entries.c.first_seen_at,
    case((unread.c.entry_id.is_(None), 0), else_=1).label("is_unread"),
    states.c.read_at,
    states.c.starred_at,
    states.c.later_at,
    states.c.later_until,
    case((_is_raised, 1), else_=0).label("is_raised"),
    entries.c.revision_count,
    labels.c.id.label("label_id"),
    labels.c.name.label("label"),
    case((is_visible_row(labels.c.id.is_not(None)), 1), else_=0).label("may_see"),
)
LISTED = _listed.select_from(_with_labels(_entries_of_user)).where(one_of(entries.c.id, "ids"))
# One row per selector_digest by which the full text was extracted, at least one.
ENTRY = (
    select(
        entries.c.id,
        entries.c.feed_id,
        subscriptions.c.id.label("subscription_id"),
        entries.c.sort_at,
        entries.c.first_seen_at,
        states.c.read_at,
        states.c.starred_at,
        states.c.later_at,
        entries.c.revision_count,
        entries.c.link,
        entries.c.title,
        entries.c.comments_url,
        entries.c.base_url,
        entries.c.categories,
        entries.c.enclosures,
        entries.c.summary,
        entries.c.content_html,
        subscriptions.c.settings,
        full_texts.c.selector_digest.label("full_selector_digest"),
        full_texts.c.content_html.label("full_html"),
        full_texts.c.url.label("full_url"),
    )
    .select_from(_entries_of_user.outerjoin(full_texts, full_texts.c.entry_id == entries.c.id))
    .where(entries.c.id == bindparam("entry_id"), _may_see)
)
VISIBLE = (
    select(entries.c.id, feeds.c.archive_policy)
    .select_from(_entries_of_user)
    .where(one_of(entries.c.id, "ids"), _may_see)
)


class ListedEntry(Struct, frozen=True, gc=False):
    """What lists show of an entry. No `subscription_id`: the user no longer subscribes to the feed.

    `beginning` is HTML: the whole summary if it `has_summary`, else the first characters of the content.
    """

    id: int
    feed_id: int
    guid: str
    subscription_id: int | None
    feed_title: str | None
    title: str | None
    link: str | None
    author: str | None
    beginning: str | None
    has_summary: bool
    image_url: str | None
    language: str | None
    published_at: str
    undated: bool
    sort_at: str
    first_seen_at: str
    is_unread: bool
    read_at: str | None
    starred_at: str | None
    later_at: str | None
    later_until: str | None
    is_raised: bool
    revision_count: int
    labels: tuple[EntryLabel, ...]


ListedEntries = dict[int, ListedEntry | None]
"""By id, in the order of the list; None for an entry that the user may not see."""


class VisibleEntry(Struct, frozen=True, gc=False):
    """An entry that a user may see, with its first text, the user's states and the user's settings for its feed.

    `full_html` is the whole article of the page at `full_url`, extracted as these settings say, if it was fetched.
    """

    id: int
    feed_id: int
    subscription_id: int | None
    sort_at: str
    first_seen_at: str
    read_at: str | None
    starred_at: str | None
    later_at: str | None
    revision_count: int
    link: str | None
    title: str | None
    comments_url: str | None
    base_url: str | None
    categories: tuple[str, ...]
    enclosures: tuple[Enclosure, ...]
    summary: str | None
    content_html: str | None
    settings: FeedSettings
    full_html: str | None
    full_url: str | None


def select_listed_entries(keys: FromClause) -> Select[Any]:
    """Selects what lists show of the entries whose ids are in `keys` (`entry_id`)."""
    named = keys.join(entries, entries.c.id == keys.c.entry_id)
    return _listed.select_from(_with_labels(_with_user_columns(named)))


def to_listed_entries(rows: Iterable[Row]) -> ListedEntries:
    """Entries from rows of `select_listed_entries`, of which there is one for each label of an entry."""
    found: dict[int, list[Row]] = {}
    for row in rows:
        of_entry = found.setdefault(row["id"], [])
        if row["may_see"]:
            of_entry.append(row)
    return {id: _to_listed_entry(of_entry) if of_entry else None for id, of_entry in found.items()}


def _to_listed_entry(rows: Sequence[Row]) -> ListedEntry:
    row = rows[0]
    return ListedEntry(
        id=row["id"],
        feed_id=row["feed_id"],
        guid=row["guid"],
        subscription_id=row["subscription_id"],
        feed_title=row["feed_title"],
        title=row["title"],
        link=row["link"],
        author=row["author"],
        beginning=row["beginning"],
        has_summary=bool(row["has_summary"]),
        image_url=row["image_url"],
        language=row["language"],
        published_at=row["published_at"] or row["sort_at"],
        undated=bool(row["undated"]),
        sort_at=row["sort_at"],
        first_seen_at=row["first_seen_at"],
        is_unread=bool(row["is_unread"]),
        read_at=row["read_at"],
        starred_at=row["starred_at"],
        later_at=row["later_at"],
        later_until=row["later_until"],
        is_raised=bool(row["is_raised"]),
        revision_count=row["revision_count"],
        labels=_labels(rows),
    )


def _labels(rows: Sequence[Row]) -> tuple[EntryLabel, ...]:
    found = [EntryLabel(row["label_id"], row["label"]) for row in rows if row["label_id"] is not None]
    return tuple(sorted(found, key=attrgetter("name"))) if found else ()


async def read_listed_entries(db: Database, user_id: int, ids: Sequence[int]) -> ListedEntries:
    """What lists show of these entries, in no order."""
    return to_listed_entries(await db.query(LISTED, {"of_user": user_id, "ids": as_list(list(ids))}))


async def visible_entry(db: Database, user_id: int, entry_id: int) -> VisibleEntry | None:
    """The entry, or None when the user may not see it or there is none."""
    rows = await db.query(ENTRY, {"of_user": user_id, "entry_id": entry_id})
    if not rows:
        return None
    settings = decode_settings(rows[0]["settings"])
    without_full_text = {**rows[0], "full_html": None, "full_url": None}
    found = next((row for row in rows if row["full_selector_digest"] == settings.selector_digest), without_full_text)
    return _to_visible_entry(found, settings)


def _to_visible_entry(row: Row, settings: FeedSettings) -> VisibleEntry:
    values = {name: row[name] for name in VisibleEntry.__struct_fields__}
    return VisibleEntry(
        **values
        | {
            "categories": decode_categories(row["categories"]),
            "enclosures": decode_enclosures(row["enclosures"]),
            "settings": settings,
        }
    )


async def visible_entries(db: Database, user_id: int, ids: Sequence[int]) -> dict[int, str]:
    """Those of these entries that the user may see, each with the archive policy of its feed."""
    rows = await db.query(VISIBLE, {"of_user": user_id, "ids": as_list(list(ids))})
    return {row["id"]: row["archive_policy"] for row in rows}
