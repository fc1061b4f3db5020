"""Reads what the sidebar shows of a user's feeds: few columns, because every page reads all of them."""

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from feedmill.i18n.natural_order import natural_key
from feedmill.model.feed import PRIVATE_URL_MARKER
from feedmill.model.subscription import SidebarFeed, SubscriptionName
from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, one_of
from feedmill.store.feeds.icons import ICON_NAME
from feedmill.store.schema import feeds, icons, subscriptions
from feedmill.store.subscriptions.read_subscriptions import FILED, subscription_state

LISTED = (
    select(
        subscriptions.c.id,
        subscriptions.c.unread_count,
        subscriptions.c.paused,
        subscriptions.c.title.label("own_title"),
        feeds.c.title.label("feed_title"),
        feeds.c.own_title.label("operators_title"),
        *(feeds.c[name] for name in ("url", "status", "gone_since", "next_fetch_at", "last_fetched_at")),
        *(feeds.c[name] for name in ("consecutive_failures", "merged_into")),
        ICON_NAME.label("icon"),
    )
    .join_from(subscriptions, feeds, feeds.c.id == subscriptions.c.feed_id)
    .outerjoin(icons, icons.c.feed_id == subscriptions.c.feed_id)
    .where(subscriptions.c.user_id == bindparam("user_id"))
)
COUNTS = select(subscriptions.c.id, subscriptions.c.unread_count).where(
    subscriptions.c.user_id == bindparam("user_id"), subscriptions.c.unread_count > 0
)
OF_FEEDS = LISTED.add_columns(subscriptions.c.feed_id).where(one_of(subscriptions.c.feed_id, "feed_ids"))
FAILING_STATES = frozenset({"failing", "broken", "gone", "stopped"})


async def sidebar_feeds(db: Database, user_id: int) -> list[SidebarFeed]:
    """The user's feeds in the natural order of their titles.

    A feed that has moved is left out once all its entries are read: the user is subscribed to the new feed.
    """
    rows = await db.query(LISTED, {"user_id": user_id})
    found = [_feed(row) for row in rows if row["merged_into"] is None or row["unread_count"]]
    return sorted(found, key=lambda feed: (natural_key(feed.title), feed.id))


async def feeds_by_folder(db: Database, user_id: int) -> dict[int, list[int]]:
    """By folder the subscriptions in it."""
    filed: dict[int, list[int]] = {}
    for row in await db.query(FILED, {"user_id": user_id}):
        filed.setdefault(row["folder_id"], []).append(row["subscription_id"])
    return filed


async def unread_by_subscription(db: Database, user_id: int) -> dict[int, int]:
    """The unread counts of the user's feeds that have unread entries."""
    return {row["id"]: row["unread_count"] for row in await db.query(COUNTS, {"user_id": user_id})}


async def subscription_names_by_feed(
    db: Database, user_id: int, feed_ids: Sequence[int]
) -> dict[int, SubscriptionName]:
    """By feed the user's subscription; feeds without one are left out."""
    rows = await db.query(OF_FEEDS, {"user_id": user_id, "feed_ids": as_list(list(feed_ids))})
    return {row["feed_id"]: SubscriptionName(row["id"], _title(row)) for row in rows}


def _title(row: Row) -> str:
    title = row["own_title"] or row["operators_title"] or row["feed_title"]
    return str(title or row["url"].partition(PRIVATE_URL_MARKER)[0])


def _feed(row: Row) -> SidebarFeed:
    return SidebarFeed(
        row["id"],
        _title(row),
        row["unread_count"],
        subscription_state(row) in FAILING_STATES,
        row["icon"],
    )
