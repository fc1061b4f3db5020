"""A small library for tests: users, feeds, subscriptions, and entries added as a refresh adds them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from sqlalchemy import func, select

from feedmill.model.refresh import NewEntry
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.entries.add_entries import steps_to_add_entries
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.schema import entries, folder_subscriptions, folders, subscriptions, unread, users
from feedmill.store.users.users import add_user

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@dataclass
class SmallLibrary:
    """Entries are identified by their titles; each is an hour newer than the previous one unless a time is given."""

    db: Database
    now: datetime = NOW
    _numbers: Any = field(default_factory=lambda: count(1))

    async def person(self, name: str = "alice") -> User:
        return await add_user(self.db, name, None, False, self.now)

    async def feed(self, name: str = "feed") -> int:
        return (await add_feed(self.db, f"https://{name}.example.org/", self.now)).id

    async def subscribe(self, user: User, feed_id: int, title: str | None = None) -> int:
        row = {"user_id": user.id, "feed_id": feed_id, "title": title, "created_at": to_iso(self.now)}
        await self.db.batch([Step(insert(subscriptions, *row), row)])
        mine = (subscriptions.c.user_id == user.id, subscriptions.c.feed_id == feed_id)
        [found] = await self.db.query(select(subscriptions.c.id).where(*mine))
        return int(found["id"])

    async def folder(self, user: User, name: str, *subscription_ids: int, parent_id: int = 0) -> int:
        row = {"user_id": user.id, "name": name, "parent_id": parent_id}
        await self.db.batch([Step(insert(folders, *row), row)])
        [found] = await self.db.query(select(folders.c.id).where(folders.c.user_id == user.id, folders.c.name == name))
        rows = [{"folder_id": found["id"], "subscription_id": each} for each in subscription_ids]
        await self.db.batch([Step(insert(folder_subscriptions, "folder_id", "subscription_id"), rows)])
        return int(found["id"])

    async def arrive(
        self, feed_id: int, *titles: str, at: datetime | None = None, defers_unread: bool = False, **more: Any
    ) -> list[int]:
        """New entries of the feed; their ids."""
        number = next(self._numbers)
        new = [
            new_entry(title, at or NOW - 30 * DAY + HOUR * (number + place), **more)
            for place, title in enumerate(titles)
        ]
        token, at_once = f"refresh {number}", to_iso(self.now)
        await self.db.batch(
            steps_to_add_entries(feed_id, token, new, at_once, in_feed=True, defers_unread=defers_unread)
        )
        found = await self.db.query(select(entries.c.id, entries.c.title).where(entries.c.feed_id == feed_id))
        by_title = {row["title"]: int(row["id"]) for row in found}
        return [by_title[title] for title in titles]

    async def unread_of(self, user: User) -> tuple[int, int]:
        """The length of the user's unread list, and the unread count according to the subscriptions."""
        lists = unread.join(users, users.c.unread_list_id == unread.c.list_id)
        held = select(func.count().label("n")).select_from(lists)
        [listed] = await self.db.query(held.where(users.c.id == user.id))
        total = select(func.coalesce(func.sum(subscriptions.c.unread_count), 0).label("n"))
        [counted] = await self.db.query(total.where(subscriptions.c.user_id == user.id))
        return int(listed["n"]), int(counted["n"])


def new_entry(title: str, at: datetime, **more: Any) -> NewEntry:
    given: dict[str, Any] = {
        "guid": title,
        "digest": "d",
        "sort_at": at,
        "published_at": at,
        "updated_at": None,
        "link": f"https://example.org/{title}",
        "title": title,
        "author": None,
        "summary": None,
        "content_html": f"<p>{title}</p>",
        "base_url": None,
        "language": None,
        "image_url": None,
        "comments_url": None,
        "categories": (),
        "enclosures": (),
        "images": (),
    }
    return NewEntry(**(given | more))
