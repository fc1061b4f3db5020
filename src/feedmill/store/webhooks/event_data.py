"""Reads the feed and the new entries that a webhook event reports."""

from dataclasses import dataclass

from sqlalchemy import Integer, bindparam, func, select

from feedmill.i18n.messages import Message, message_or_none
from feedmill.model.feed import without_owner
from feedmill.model.feed_settings import FeedSettings
from feedmill.store.database import Database, Row
from feedmill.store.schema import entries, feeds, subscriptions
from feedmill.store.subscriptions.feed_settings import decode_settings

FEED = (
    select(
        feeds.c.id,
        feeds.c.url,
        feeds.c.site_url,
        feeds.c.status,
        feeds.c.consecutive_failures,
        feeds.c.last_error,
        subscriptions.c.id.label("subscription_id"),
        subscriptions.c.settings,
        func.coalesce(subscriptions.c.title, feeds.c.own_title, feeds.c.title).label("title"),
    )
    .join(subscriptions, subscriptions.c.feed_id == feeds.c.id)
    .where(feeds.c.id == bindparam("feed_id"), subscriptions.c.user_id == bindparam("reader"))
)
_of_refresh = (entries.c.feed_id == bindparam("feed_id"), entries.c.refresh_token == bindparam("refresh_token"))
NEW_ENTRIES = (
    select(
        entries.c.id,
        entries.c.title,
        entries.c.link,
        entries.c.author,
        entries.c.published_at,
        entries.c.undated,
        entries.c.summary,
        entries.c.content_html,
    )
    .where(*_of_refresh)
    .order_by(entries.c.sort_at.desc(), entries.c.id.desc())
    .limit(bindparam("most", type_=Integer))
)
COUNT_NEW_ENTRIES = select(func.count().label("n")).where(*_of_refresh)


@dataclass(frozen=True, slots=True)
class EventFeed:
    """A feed as its subscriber knows it; `url` is without the owner of a private feed."""

    id: int
    url: str
    site_url: str | None
    status: str
    consecutive_failures: int
    last_error: Message | None
    subscription_id: int
    settings: FeedSettings
    title: str | None


@dataclass(frozen=True, slots=True)
class EventEntry:
    """A new entry of a feed."""

    id: int
    title: str | None
    link: str | None
    author: str | None
    published_at: str | None
    undated: bool
    summary: str | None
    content_html: str | None


async def read_event_feed(db: Database, feed_id: int, user_id: int) -> EventFeed | None:
    """The feed as its subscriber knows it; None when it is deleted or not subscribed to any more."""
    rows = await db.query(FEED, {"feed_id": feed_id, "reader": user_id})
    return _event_feed(rows[0]) if rows else None


async def read_event_entries(db: Database, feed_id: int, refresh_token: str, most: int) -> tuple[int, list[EventEntry]]:
    """How many entries a refresh brought, and the newest of them."""
    key = {"feed_id": feed_id, "refresh_token": refresh_token}
    [count] = await db.query(COUNT_NEW_ENTRIES, key)
    rows = await db.query(NEW_ENTRIES, key | {"most": most})
    return int(count["n"]), [EventEntry(**{**row, "undated": bool(row["undated"])}) for row in rows]


def _event_feed(row: Row) -> EventFeed:
    values = dict(row)
    values["url"] = without_owner(row["url"])
    values["last_error"] = message_or_none(row["last_error"])
    values["settings"] = decode_settings(row["settings"])
    return EventFeed(**values)
