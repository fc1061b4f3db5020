"""Notification targets of users on a scripted web, with a clock that the test sets."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec

from feedmill.archive.blobs import Blobs
from feedmill.library.entries.marks import apply_marks
from feedmill.library.notifications.service import Notifications, make_notifications
from feedmill.library.outbound_tools import OutboundTools
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.feed import Feed
from feedmill.model.notifications.notification_target import CHOSEN_EVENTS, NotificationTarget, TargetSettings
from feedmill.model.user import User
from feedmill.outbound.apprise_messages import AppriseSender
from feedmill.outbound.client import Client
from feedmill.store.database import Database, Step
from feedmill.store.notifications.notification_queue import step_to_queue_event
from feedmill.store.schema import subscriptions
from tests.library.services.service_setup import ServiceSetup, with_key
from tests.library.webhooks.webhook_setup import NOW
from tests.scripted_web import Web


@dataclass
class NotificationSetup:
    db: Database
    web: Web
    now: datetime = NOW
    allow_private: tuple[str, ...] = ("127.0.0.0/8",)
    # For browsers alone: Apprise has its own.
    client: Client | None = None
    blobs: Blobs | None = None
    notifications: Notifications = field(init=False)

    def __post_init__(self) -> None:
        tools = OutboundTools(self.db, self.client, lambda: self.now)  # type: ignore[arg-type]
        self.notifications = make_notifications(tools, with_key(), AppriseSender(self.allow_private), self.blobs)
        self.library = ServiceSetup(self.db, None, self.web)  # type: ignore[arg-type]

    async def reader(self, name: str = "alice") -> User:
        return await self.library.reader(name)

    async def entry(self, user: User, title: str, guid: str) -> int:
        return await self.library.entry(user, title=title, guid=guid)

    async def unread_entry(self, user: User, title: str, guid: str) -> int:
        entry = await self.entry(user, title, guid)
        await apply_marks(self.db, user.id, [entry], EntryMarks(read=False), self.now)
        return entry

    async def target(
        self, user: User, path: str = "/notify", searches: tuple[int, ...] = (), gap: int = 5, **changes: Any
    ) -> NotificationTarget:
        """A target that gets messages as JSON at a path of the web."""
        settings = TargetSettings("phone", CHOSEN_EVENTS, searches, timedelta(minutes=gap), **changes)
        return await self.notifications.create(user.id, f"json://127.0.0.1:{self.web.port}{path}", settings)

    async def event(self, feed: Feed | int, event: str) -> None:
        """Queues an event as a refresh does."""
        feed_id = feed if isinstance(feed, int) else feed.id
        await self.db.batch([step_to_queue_event(event, feed_id, "token", self.now)])

    async def feed_id_of(self, user: User) -> int:
        [row] = await self.db.query(subscriptions.select().where(subscriptions.c.user_id == user.id))
        return int(row["feed_id"])

    async def set_subscription(self, user: User, **values: Any) -> None:
        change = subscriptions.update().where(subscriptions.c.user_id == user.id).values(**values)
        await self.db.batch([Step(change, {})])

    async def one(self, target: NotificationTarget) -> NotificationTarget:
        return await self.notifications.one(target.user_id, target.id)

    def received(self, path: str = "/notify") -> list[dict[str, Any]]:
        return [msgspec.json.decode(seen.body) for seen in self.web.seen(path)]
