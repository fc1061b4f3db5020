"""Subscribes a user to a thousand feeds with entries, written straight into the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select

from feedmill.library.subscriptions.folders import ensure_folders
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert, insert_selected
from feedmill.store.entries.unread_list_sql import RECOUNT
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds
from feedmill.store.schema import entries, feeds, folder_subscriptions, subscriptions, unread, users

SUMMARY = (
    "The miller keeps two kinds of stone. One is for the grain that arrives dry in summer, the other for what comes in "
    "damp from the hills, and which of the two turns depends on the week."
)


@dataclass(frozen=True)
class ManyFeeds:
    """The ids of the subscriptions in the order of their names, and the ids of the folders by name."""

    subscriptions: Sequence[int]
    folders: dict[str, int]


async def add_many_feeds(
    db: Database, user: User, count: int = 1000, folders: int = 25, unread_every: int = 1
) -> ManyFeeds:
    """Feeds "Feed 1" and so on with an entry each, spread over folders; every n-th has it unread."""
    now = datetime.now(UTC)
    new = [NewFeed(f"https://example.org/many/{n}", f"Feed {n} about mills and water") for n in range(1, count + 1)]
    await add_feeds(db, new, now, now + timedelta(days=1))
    rows = await db.query(select(feeds.c.id).where(feeds.c.url.like("https://example.org/many/%")).order_by(feeds.c.id))
    feed_ids = [row["id"] for row in rows]
    subscribed = [{"user_id": user.id, "feed_id": id, "created_at": to_iso(now)} for id in feed_ids]
    written = [_entry(id, number, now) for number, id in enumerate(feed_ids)]
    await db.batch(
        [
            Step(insert(subscriptions, *subscribed[0]), subscribed),
            Step(insert(entries, *written[0]), written),
            Step(insert_selected(unread, _unread_of(user, unread_every))),
            Step(RECOUNT, {"of_user": user.id}),
        ]
    )
    own = select(subscriptions.c.id).where(subscriptions.c.user_id == user.id, subscriptions.c.feed_id.in_(feed_ids))
    ids = [row["id"] for row in await db.query(own.order_by(subscriptions.c.feed_id))]
    return ManyFeeds(ids, await _file(db, user, ids, folders))


async def _file(db: Database, user: User, ids: Sequence[int], folders: int) -> dict[str, int]:
    if not folders:
        return {}
    made = await ensure_folders(db, user.id, [(f"Folder {n}",) for n in range(1, folders + 1)])
    share = -(-len(ids) // folders)
    filed = [
        {"folder_id": made[(f"Folder {place // share + 1}",)], "subscription_id": id} for place, id in enumerate(ids)
    ]
    await db.batch([Step(insert(folder_subscriptions, "folder_id", "subscription_id"), filed)])
    return {path[-1]: id for path, id in made.items()}


def _entry(feed_id: int, number: int, now: datetime) -> dict[str, Any]:
    at = to_iso(now - timedelta(minutes=number))
    return {
        "feed_id": feed_id,
        "guid": f"many-{number}",
        "sort_at": at,
        "refresh_token": "many",
        "digest": "d" * 64,
        "first_seen_at": at,
        "last_seen_at": at,
        "published_at": at,
        "link": f"https://example.org/many/{feed_id}/a-year-between-dry-grain-and-damp",
        "title": f"Which stone turns: a year between dry grain and damp, part {number}",
        "summary": SUMMARY,
    }


def _unread_of(user: User, every: int) -> Any:
    return (
        select(users.c.unread_list_id, entries.c.sort_at, entries.c.id, subscriptions.c.id.label("of"))
        .join(subscriptions, subscriptions.c.user_id == users.c.id)
        .join(entries, entries.c.feed_id == subscriptions.c.feed_id)
        .where(users.c.id == user.id, entries.c.refresh_token == "many", entries.c.id % every == 0)
    )
