"""Creates, changes and tests a user's webhooks, and queues the events of a refresh for them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from secrets import token_urlsafe

from feedmill.errors import Conflict, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.outbound_tools import OutboundTools
from feedmill.library.users.limits import check_count_limit
from feedmill.library.webhooks.delivery import deliver_due
from feedmill.library.webhooks.events import events_of
from feedmill.model.feed import Claim
from feedmill.model.refresh import RefreshDecision
from feedmill.model.webhook import Delivery, Webhook, WebhookEvent
from feedmill.outbound.user_urls import parse_url_without_login
from feedmill.store.database import Database, Step
from feedmill.store.webhooks.deliveries import (
    add_test_delivery,
    deliveries_of,
    delivery_of,
    prune_deliveries,
    retry_delivery,
)
from feedmill.store.webhooks.delivery_queue import step_to_queue_event
from feedmill.store.webhooks.webhooks import (
    add_webhook,
    drop_webhook,
    has_webhooks,
    save_webhook,
    set_webhook_secret,
    webhook_of,
    webhooks_of,
)

NONE_CACHED_SECONDS = 5.0
KEEP = timedelta(days=30)


class StillPending(Conflict):
    """The delivery is pending, and is sent without being asked for."""

    code = "still_pending"


@dataclass(slots=True)
class Webhooks:
    """Caches for some seconds that there is no webhook; the process that creates one knows at once."""

    tools: OutboundTools
    _none_until: float = 0.0

    async def webhook_writes(self, claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
        """The steps that queue the events of a refresh for delivery; none if there is no webhook."""
        events = events_of(claim.feed, decision)
        if not events or not await self._has_webhooks():
            return ()
        return [step_to_queue_event(event, claim.feed.id, claim.token, self._now) for event in events]

    async def create(self, user_id: int, url: str, events: Sequence[WebhookEvent]) -> Webhook:
        await check_count_limit(self._db, user_id, "webhooks")
        added = await add_webhook(self._db, user_id, parse_url_without_login(url), token_urlsafe(32), events, self._now)
        self._none_until = 0.0
        return added

    async def all(self, user_id: int) -> list[Webhook]:
        return await webhooks_of(self._db, user_id)

    async def one(self, user_id: int, webhook_id: int) -> Webhook:
        """The user's webhook of that id; raises `NotFound`."""
        found = await webhook_of(self._db, user_id, webhook_id)
        if found is None:
            raise NotFound(Message("error.no_such_webhook"))
        return found

    async def change(
        self,
        user_id: int,
        webhook_id: int,
        url: str | None = None,
        events: Sequence[WebhookEvent] | None = None,
        paused: bool | None = None,
    ) -> Webhook:
        """Changes a webhook; resuming it or changing its URL clears its failures."""
        before = await self.one(user_id, webhook_id)
        changed = replace(
            before,
            url=before.url if url is None else parse_url_without_login(url),
            events=before.events if events is None else tuple(events),
            paused=before.paused if paused is None else paused,
        )
        forgiven = (before.paused and not changed.paused) or changed.url != before.url
        await save_webhook(self._db, changed, forgiven=forgiven)
        return await self.one(user_id, webhook_id)

    async def delete(self, user_id: int, webhook_id: int) -> None:
        if not await drop_webhook(self._db, user_id, webhook_id):
            raise NotFound(Message("error.no_such_webhook"))

    async def new_secret(self, user_id: int, webhook_id: int) -> Webhook:
        """Replaces the secret; the new one is used from the next delivery on."""
        if not await set_webhook_secret(self._db, user_id, webhook_id, token_urlsafe(32)):
            raise NotFound(Message("error.no_such_webhook"))
        return await self.one(user_id, webhook_id)

    async def test(self, user_id: int, webhook_id: int) -> Delivery:
        """Queues a test event, also for a paused webhook."""
        return await add_test_delivery(self._db, (await self.one(user_id, webhook_id)).id, self._now)

    async def deliveries(self, user_id: int, webhook_id: int, before: int, most: int) -> list[Delivery]:
        """The deliveries of the webhook, the latest first."""
        return await deliveries_of(self._db, (await self.one(user_id, webhook_id)).id, before, most)

    async def redeliver(self, user_id: int, webhook_id: int, delivery_id: int) -> Delivery:
        """Queues a finished delivery again, with the same id; raises `StillPending` for a pending one."""
        await self.one(user_id, webhook_id)
        sent = await retry_delivery(self._db, webhook_id, delivery_id, self._now)
        found = await delivery_of(self._db, webhook_id, delivery_id)
        if found is None:
            raise NotFound(Message("error.no_such_delivery"))
        if not sent:
            raise StillPending(Message("error.delivery_pending"))
        return found

    async def deliver(self) -> int:
        """Sends a chunk of due deliveries; how many there were."""
        return await deliver_due(self.tools)

    async def prune(self, now: datetime) -> int:
        """Deletes old deliveries; how many there were."""
        return await prune_deliveries(self._db, now - KEEP)

    @property
    def _db(self) -> Database:
        return self.tools.db

    @property
    def _now(self) -> datetime:
        return self.tools.clock()

    async def _has_webhooks(self) -> bool:
        if time.monotonic() < self._none_until:
            return False
        if await has_webhooks(self._db):
            return True
        self._none_until = time.monotonic() + NONE_CACHED_SECONDS
        return False
