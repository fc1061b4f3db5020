"""Webhooks, their feed and their receivers on a scripted web, with a clock that the test sets."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import Any

import msgspec
from sqlalchemy import select

from feedmill.coordination.memory import MemoryHostSlots
from feedmill.library.outbound_tools import OutboundTools
from feedmill.library.webhooks.service import Webhooks
from feedmill.model.feed import Feed
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.model.webhook import Delivery, Webhook, WebhookEvent
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.outbound.client import Client
from feedmill.outbound.host_pacing import Pacer
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.schema import deliveries, entries, subscriptions
from feedmill.store.users.users import add_user
from feedmill.store.webhooks.deliveries import to_delivery
from feedmill.store.webhooks.delivery_queue import step_to_queue_event
from tests.scripted_web import Web

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ALL_EVENTS = (WebhookEvent.NEW_ENTRIES, WebhookEvent.FEED_FAILING, WebhookEvent.FEED_HEALED)

SUBSCRIBE = insert(subscriptions, "user_id", "feed_id", "title", "paused", "created_at")
ADD_ENTRY = insert(
    entries,
    "feed_id",
    "guid",
    "sort_at",
    "refresh_token",
    "digest",
    "first_seen_at",
    "last_seen_at",
    "title",
    "link",
    "summary",
)
ALL_DELIVERIES = select(deliveries).order_by(deliveries.c.id)


@dataclass
class WebhookSetup:
    db: Database
    client: Client
    web: Web
    now: datetime = NOW
    webhooks: Webhooks = field(init=False)

    def __post_init__(self) -> None:
        self.webhooks = Webhooks(OutboundTools(self.db, self.client, lambda: self.now))

    async def reader(self, name: str, feed: Feed, *, title: str | None = None, paused: bool = False) -> User:
        user = await add_user(self.db, name, None, False, self.now)
        row = {"user_id": user.id, "feed_id": feed.id, "title": title, "paused": int(paused)}
        await self.db.batch([Step(SUBSCRIBE, row | {"created_at": to_iso(self.now)})])
        return user

    async def feed(self, url: str = "https://example.org/feed") -> Feed:
        return await add_feed(self.db, url, self.now)

    async def hook(self, user: User, served: Any = None, path: str = "/hook") -> Webhook:
        """A webhook of the user at a path with that response; 200 by default."""
        url = self.web.url(path) if served is None else self.web.serve(path, served)
        return await self.webhooks.create(user.id, url, ALL_EVENTS)

    async def queue_event(
        self, feed: Feed, event: WebhookEvent = WebhookEvent.NEW_ENTRIES, titles: tuple[str, ...] = ("one",)
    ) -> None:
        """Writes an event with its entries, as a refresh does."""
        token, at = token_hex(8), to_iso(self.now)
        same = {"feed_id": feed.id, "sort_at": at, "refresh_token": token, "first_seen_at": at, "last_seen_at": at}
        rows = [
            same
            | {"guid": token + title, "digest": "d", "title": title, "link": "https://e.org", "summary": "<p>x</p>"}
            for title in titles
        ]
        added = [Step(ADD_ENTRY, rows)] if event is WebhookEvent.NEW_ENTRIES else []
        await self.db.batch([*added, step_to_queue_event(event, feed.id, token, self.now)])

    async def deliver(self) -> int:
        return await self.webhooks.deliver()

    async def outbox(self) -> list[Delivery]:
        return [to_delivery(row) for row in await self.db.query(ALL_DELIVERIES)]

    def received(self, path: str = "/hook") -> list[dict[str, Any]]:
        """What arrived at a path."""
        return [msgspec.json.decode(seen.body) for seen in self.web.seen(path)]


def open_client(policy: AddressPolicy | None = None) -> Client:
    """A client that may reach this machine, unless a policy says otherwise."""
    return Client(Pacer(MemoryHostSlots()), policy or AddressPolicy(["127.0.0.0/8"]), "Feedmill/test")
