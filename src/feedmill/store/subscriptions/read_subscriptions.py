"""Reads subscriptions: all of a user, one, and which feeds a user has."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import bindparam, func, select

from feedmill.i18n.messages import message_or_none
from feedmill.model.feed import PRIVATE_URL_MARKER
from feedmill.model.subscription import Subscription, SubscriptionState
from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, one_of
from feedmill.store.feeds.icons import ICON_NAME
from feedmill.store.schema import feeds, folder_subscriptions, folders, icons, subscriptions

_of_feed = (
    "url",
    "site_url",
    "icon_url",
    "status",
    "gone_since",
    "entry_count",
    "next_fetch_at",
    "next_fetch_why",
    "last_fetched_at",
    "last_success_at",
    "last_entry_at",
    "consecutive_failures",
    "last_error",
    "merged_into",
)
LISTED = (
    select(
        *(subscriptions.c[name] for name in ("id", "feed_id", "unread_count", "interval_seconds", "archive_policy")),
        *(subscriptions.c[name] for name in ("paused", "same_story_once", "created_at")),
        *(feeds.c[name] for name in _of_feed),
        subscriptions.c.title.label("own_title"),
        feeds.c.title.label("feed_title"),
        feeds.c.own_title.label("operators_title"),
        ICON_NAME.label("icon"),
    )
    .join_from(subscriptions, feeds, feeds.c.id == subscriptions.c.feed_id)
    .outerjoin(icons, icons.c.feed_id == subscriptions.c.feed_id)
    .where(subscriptions.c.user_id == bindparam("user_id"))
    .order_by(subscriptions.c.id)
)
ONE = LISTED.where(subscriptions.c.id == bindparam("subscription_id"))
FILED = (
    select(folder_subscriptions.c.subscription_id, folder_subscriptions.c.folder_id)
    .select_from(folders.join(folder_subscriptions, folder_subscriptions.c.folder_id == folders.c.id))
    .where(folders.c.user_id == bindparam("user_id"))
    .order_by(folder_subscriptions.c.folder_id)
)
ONE_FILED = FILED.where(folder_subscriptions.c.subscription_id == bindparam("subscription_id"))
OF_FEEDS = select(subscriptions.c.id, subscriptions.c.feed_id).where(
    subscriptions.c.user_id == bindparam("user_id"), one_of(subscriptions.c.feed_id, "feed_ids")
)
OWN = select(subscriptions.c.id).where(
    subscriptions.c.user_id == bindparam("of_user"), subscriptions.c.id == bindparam("subscription_id")
)
FEED_URLS = (
    select(feeds.c.url)
    .select_from(subscriptions.join(feeds, feeds.c.id == subscriptions.c.feed_id))
    .where(subscriptions.c.user_id == bindparam("user_id"))
)
COUNT = select(func.count().label("n")).where(subscriptions.c.user_id == bindparam("user_id"))
OTHER_INTERVALS = select(func.min(subscriptions.c.interval_seconds).label("seconds")).where(
    subscriptions.c.feed_id == bindparam("feed_id"),
    subscriptions.c.id != bindparam("subscription_id"),
    subscriptions.c.paused == 0,
)
TOTALS = (
    select(
        func.coalesce(func.sum(feeds.c.entry_count), 0).label("entries"),
        func.max(feeds.c.last_fetched_at).label("last_fetched_at"),
    )
    .join_from(subscriptions, feeds, feeds.c.id == subscriptions.c.feed_id)
    .where(subscriptions.c.user_id == bindparam("user_id"))
)


class SubscriptionTotals(NamedTuple):
    """Of all feeds of a user: how many entries they have, and when one of them was last fetched."""

    entries: int
    last_fetched_at: str | None


async def subscriptions_of(db: Database, user_id: int) -> list[Subscription]:
    """All subscriptions of a user, the oldest first."""
    params = {"user_id": user_id}
    filed: dict[int, list[int]] = {}
    for row in await db.query(FILED, params):
        filed.setdefault(row["subscription_id"], []).append(row["folder_id"])
    return [_subscription(row, filed.get(row["id"], ())) for row in await db.query(LISTED, params)]


async def subscription_of(db: Database, user_id: int, subscription_id: int) -> Subscription | None:
    one = {"user_id": user_id, "subscription_id": subscription_id}
    rows = await db.query(ONE, one)
    filed = [row["folder_id"] for row in await db.query(ONE_FILED, one)] if rows else []
    return _subscription(rows[0], filed) if rows else None


async def subscription_ids_by_feed(db: Database, user_id: int, feed_ids: Sequence[int]) -> dict[int, int]:
    """By feed the user's subscription; feeds without one are left out."""
    rows = await db.query(OF_FEEDS, {"user_id": user_id, "feed_ids": as_list(list(feed_ids))})
    return {row["feed_id"]: row["id"] for row in rows}


async def has_subscription(db: Database, user_id: int, subscription_id: int) -> bool:
    return bool(await db.query(OWN, {"of_user": user_id, "subscription_id": subscription_id}))


async def feed_urls_of(db: Database, user_id: int) -> list[str]:
    """The URLs of the user's feeds, as they are stored."""
    return [row["url"] for row in await db.query(FEED_URLS, {"user_id": user_id})]


async def count_subscriptions(db: Database, user_id: int) -> int:
    [row] = await db.query(COUNT, {"user_id": user_id})
    return int(row["n"])


async def subscription_totals(db: Database, user_id: int) -> SubscriptionTotals:
    [row] = await db.query(TOTALS, {"user_id": user_id})
    return SubscriptionTotals(int(row["entries"]), row["last_fetched_at"])


async def smallest_interval_of_others(db: Database, feed_id: int, subscription_id: int) -> int | None:
    [row] = await db.query(OTHER_INTERVALS, {"feed_id": feed_id, "subscription_id": subscription_id})
    return None if row["seconds"] is None else int(row["seconds"])


def _subscription(row: Row, folder_ids: Sequence[int]) -> Subscription:
    url, _, private = row["url"].partition(PRIVATE_URL_MARKER)
    own_title, feed_title = row["own_title"], row["feed_title"]
    return Subscription(
        row["id"],
        row["feed_id"],
        url,
        own_title or row["operators_title"] or feed_title or url,
        own_title,
        feed_title,
        row["site_url"],
        row["icon_url"],
        tuple(folder_ids),
        row["unread_count"],
        row["entry_count"],
        row["interval_seconds"],
        row["archive_policy"],
        bool(row["paused"]),
        bool(row["same_story_once"]),
        bool(private),
        subscription_state(row),
        row["next_fetch_at"],
        message_or_none(row["next_fetch_why"]),
        row["last_fetched_at"],
        row["last_success_at"],
        row["last_entry_at"],
        row["consecutive_failures"],
        message_or_none(row["last_error"]),
        row["created_at"],
        row["icon"],
    )


def subscription_state(row: Mapping[str, Any]) -> SubscriptionState:
    """The most important state. `moved`: the feed was merged into another, and this one keeps its old entries."""
    if row["merged_into"] is not None:
        return "moved"
    if row["paused"]:
        return "paused"
    if row["status"] == "disabled":
        return "gone" if row["gone_since"] else "stopped"
    if row["status"] == "error":
        return "broken"
    if row["consecutive_failures"]:
        return "failing"
    if row["next_fetch_at"] is None:
        return "resting"
    return "healthy" if row["last_fetched_at"] else "queued"
