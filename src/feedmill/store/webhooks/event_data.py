"""Reads the feed and the new entries that a webhook event reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Integer, bindparam, exists, func, select

from feedmill.i18n.messages import Message, message_or_none
from feedmill.model.feed import without_owner
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.filters.entry_filter import FilterAction
from feedmill.model.webhook import WebhookEvent
from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import entries, feeds, filter_effects, filters, subscriptions
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
_effect = exists().where(filter_effects.c.user_id == bindparam("reader"), filter_effects.c.entry_id == entries.c.id)
_is_hidden = _effect.where(filter_effects.c.action == FilterAction.HIDE)
_is_matched = _effect.where(filter_effects.c.action == FilterAction.NOTIFY)
_entries = (
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
_count = select(func.count().label("n")).where(*_of_refresh)
# What the reader's filters hide is not reported.
ENTRIES_OF_EVENT = {
    WebhookEvent.NEW_ENTRIES: (_count.where(~_is_hidden), _entries.where(~_is_hidden)),
    WebhookEvent.MATCHED_ENTRIES: (_count.where(_is_matched), _entries.where(_is_matched)),
}
FILTERS_OF_ENTRIES = (
    select(filter_effects.c.entry_id, filters.c.id, filters.c.name)
    .join(filters, filters.c.id == filter_effects.c.filter_id)
    .where(
        filter_effects.c.user_id == bindparam("reader"),
        filter_effects.c.action == FilterAction.NOTIFY,
        one_of(filter_effects.c.entry_id, "ids"),
    )
)


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


class EventFilter(NamedTuple):
    """The filter that notifies of an entry."""

    id: int
    name: str


async def read_event_feed(db: Database, feed_id: int, user_id: int) -> EventFeed | None:
    """The feed as its subscriber knows it; None when it is deleted or not subscribed to any more."""
    rows = await db.query(FEED, {"feed_id": feed_id, "reader": user_id})
    return _event_feed(rows[0]) if rows else None


async def read_event_entries(
    db: Database, event: WebhookEvent, feed_id: int, user_id: int, refresh_token: str, most: int
) -> tuple[int, list[EventEntry]]:
    """How many entries of a refresh the event reports to the user, and the newest of them."""
    key = {"feed_id": feed_id, "refresh_token": refresh_token, "reader": user_id}
    counting, newest = ENTRIES_OF_EVENT[event]
    [count] = await db.query(counting, key)
    rows = await db.query(newest, key | {"most": most})
    return int(count["n"]), [EventEntry(**{**row, "undated": bool(row["undated"])}) for row in rows]


async def read_notifying_filters(db: Database, user_id: int, ids: Sequence[int]) -> dict[int, EventFilter]:
    """By entry the filter of the user that notifies of it."""
    rows = await db.query(FILTERS_OF_ENTRIES, {"reader": user_id, "ids": as_list(list(ids))})
    return {row["entry_id"]: EventFilter(row["id"], row["name"]) for row in rows}


def _event_feed(row: Row) -> EventFeed:
    values = dict(row)
    values["url"] = without_owner(row["url"])
    values["last_error"] = message_or_none(row["last_error"])
    values["settings"] = decode_settings(row["settings"])
    return EventFeed(**values)
