"""Creates, changes and tests a user's notification targets, and queues the events of a refresh for them."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from feedmill.archive.blobs import Blobs
from feedmill.encryption import Encryption
from feedmill.errors import BadInput, NotFound
from feedmill.i18n.dates import time_zone
from feedmill.i18n.messages import Message
from feedmill.library.notifications.browser_push import BrowserPush, write_subscription
from feedmill.library.notifications.queue_digests import next_digest_at
from feedmill.library.notifications.send_notifications import NotificationSender
from feedmill.library.notifications.target_urls import check_target_url, encrypt_url
from feedmill.library.outbound_tools import OutboundTools
from feedmill.library.search.saved_searches import saved_searches_of_user
from feedmill.library.users.limits import check_count_limit
from feedmill.library.users.preferences import stored_zone
from feedmill.library.webhooks.events import events_of
from feedmill.model.encrypted import Encrypted
from feedmill.model.feed import Claim
from feedmill.model.notifications.notification_target import (
    CHOSEN_EVENTS,
    GAPS,
    MAX_NAME_LENGTH,
    NotificationEvent,
    NotificationTarget,
    TargetSettings,
)
from feedmill.model.notifications.push_subscription import PUSH_SCHEME, PushSubscription
from feedmill.model.refresh import RefreshDecision
from feedmill.outbound.apprise_messages import AppriseSender
from feedmill.outbound.apprise_schemes import scheme_of
from feedmill.store.database import Database, Step
from feedmill.store.notifications.notification_queue import step_to_queue_event
from feedmill.store.notifications.targets import (
    add_target,
    add_test_notification,
    change_target,
    drop_target,
    has_targets,
    target_of,
    targets_of,
)
from feedmill.store.users.users import user_of_id

NONE_CACHED_SECONDS = 5.0
# Whom push services may ask about messages of an instance without a public address.
DEFAULT_CONTACT = "https://github.com/feedmill/feedmill"


@dataclass(slots=True)
class Notifications:
    """Caches for some seconds that there is no target; the process that creates one knows at once."""

    tools: OutboundTools
    encryption: Encryption
    sender: NotificationSender
    _none_until: float = 0.0

    async def notification_writes(self, claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
        """The steps that queue the events of a refresh; none if there is no target."""
        events = [event for event in events_of(claim.feed, decision) if str(event) in CHOSEN_EVENTS]
        if not events or not await self._has_targets():
            return ()
        return [step_to_queue_event(event, claim.feed.id, claim.token, self._now) for event in events]

    async def create(self, user_id: int, url: str, settings: TargetSettings) -> NotificationTarget:
        await check_count_limit(self._db, user_id, "notification_targets")
        return await self._add(user_id, await self._checked(user_id, settings), *await self._encrypted(url))

    async def create_browser(
        self, user_id: int, subscription: PushSubscription, settings: TargetSettings
    ) -> NotificationTarget:
        """Adds a browser as a target. One that has subscribed before stays as it is, with its present keys."""
        known = await self.browsers.find_target(await self.all(user_id), subscription.endpoint)
        if known is None:
            await check_count_limit(self._db, user_id, "notification_targets")
        checked = await self._checked(user_id, known.settings if known else settings)
        text = write_subscription(subscription)
        encrypted = await asyncio.to_thread(encrypt_url, self.encryption, text)
        if known is None:
            return await self._add(user_id, checked, PUSH_SCHEME, encrypted)
        next_at = await self._next_digest_at(user_id, checked)
        await change_target(self._db, known, checked, next_at, (PUSH_SCHEME, encrypted), self._now)
        return await self.one(user_id, known.id)

    async def all(self, user_id: int) -> list[NotificationTarget]:
        return await targets_of(self._db, user_id)

    async def one(self, user_id: int, target_id: int) -> NotificationTarget:
        """The user's target of that id; raises `NotFound`."""
        found = await target_of(self._db, user_id, target_id)
        if found is None:
            raise NotFound(Message("error.no_such_target"))
        return found

    async def change(self, user_id: int, target_id: int, settings: TargetSettings, url: str = "") -> NotificationTarget:
        """Changes a target; an empty address stays as it is."""
        target = await self.one(user_id, target_id)
        if url.strip() and target.scheme == PUSH_SCHEME:
            raise BadInput(Message("notification.browser_url"), "url")
        new_url = await self._encrypted(url) if url.strip() else None
        checked = await self._checked(user_id, settings)
        next_at = await self._next_digest_at(user_id, checked)
        await change_target(self._db, target, checked, next_at, new_url, self._now)
        return await self.one(user_id, target_id)

    async def delete(self, user_id: int, target_id: int) -> None:
        if not await drop_target(self._db, user_id, target_id):
            raise NotFound(Message("error.no_such_target"))

    async def test(self, user_id: int, target_id: int) -> None:
        """Queues a test message, also for a paused target."""
        await add_test_notification(self._db, await self.one(user_id, target_id), self._now)

    async def send(self) -> int:
        """Sends what is due; to how many targets."""
        return await self.sender.send_due()

    async def _add(
        self, user_id: int, settings: TargetSettings, scheme: str, encrypted: Encrypted
    ) -> NotificationTarget:
        next_at = await self._next_digest_at(user_id, settings)
        added = await add_target(self._db, user_id, settings, next_at, scheme, encrypted, self._now)
        self._none_until = 0.0
        return added

    async def _encrypted(self, url: str) -> tuple[str, Encrypted]:
        checked = check_target_url(url)
        return scheme_of(checked), await asyncio.to_thread(encrypt_url, self.encryption, checked)

    async def _next_digest_at(self, user_id: int, settings: TargetSettings) -> datetime | None:
        user = await user_of_id(self._db, user_id)
        return next_digest_at(settings.digest, time_zone(stored_zone(user.settings if user else None)), self._now)

    async def _checked(self, user_id: int, settings: TargetSettings) -> TargetSettings:
        name = " ".join(settings.name.split())
        if not name or len(name) > MAX_NAME_LENGTH or not name.isprintable():
            raise BadInput(Message("notification.bad_name", n=MAX_NAME_LENGTH), "name")
        if settings.gap not in [timedelta(minutes=gap) for gap in GAPS]:
            raise BadInput(Message("notification.bad_gap"), "gap")
        own = {search.id for search in await saved_searches_of_user(self._db, user_id)}
        if not own.issuperset(settings.search_ids):
            raise NotFound(Message("error.no_such_search"))
        events = tuple(event for event in CHOSEN_EVENTS if event in settings.events)
        return replace(settings, name=name, events=_with_searches(events, settings.search_ids))

    @property
    def browsers(self) -> BrowserPush:
        return self.sender.browsers

    @property
    def _db(self) -> Database:
        return self.tools.db

    @property
    def _now(self) -> datetime:
        return self.tools.clock()

    async def _has_targets(self) -> bool:
        if time.monotonic() < self._none_until:
            return False
        if await has_targets(self._db):
            return True
        self._none_until = time.monotonic() + NONE_CACHED_SECONDS
        return False


def make_notifications(
    tools: OutboundTools,
    encryption: Encryption,
    apprise: AppriseSender,
    blobs: Blobs | None = None,
    contact: str = DEFAULT_CONTACT,
) -> Notifications:
    browsers = BrowserPush(tools, encryption, contact)
    return Notifications(tools, encryption, NotificationSender(tools, encryption, apprise, browsers, blobs))


def _with_searches(events: tuple[NotificationEvent, ...], search_ids: Sequence[int]) -> tuple[NotificationEvent, ...]:
    """Whoever chooses a saved search is notified of its hits."""
    others = tuple(event for event in events if event is not NotificationEvent.SEARCH_HITS)
    return (*others, NotificationEvent.SEARCH_HITS) if search_ids else others
