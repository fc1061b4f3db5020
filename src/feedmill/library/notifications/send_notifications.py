"""Sends what waits for notification targets, at least once, in one message for each.

claim targets → read what waits → write the message → send → record the result
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from feedmill.archive.blobs import Blobs
from feedmill.encryption import Encryption, UnreadableSecret
from feedmill.engine.leased_tasks import run_leased_tasks
from feedmill.i18n.translator import translator
from feedmill.lazy_loggers import get_logger
from feedmill.library.notifications.browser_push import BrowserPush
from feedmill.library.notifications.compose_digest import compose_digest
from feedmill.library.notifications.compose_message import compose_message, message_language
from feedmill.library.notifications.queue_digests import queue_due_digests
from feedmill.library.notifications.target_urls import decrypt_url
from feedmill.library.notifications.watch_searches import check_due_searches
from feedmill.library.outbound_tools import OutboundTools
from feedmill.model.notifications.notification_message import NotificationMessage
from feedmill.model.notifications.notification_target import (
    NotificationClaim,
    NotificationEvent,
    SendFailure,
    WaitingNotification,
)
from feedmill.model.notifications.push_subscription import PUSH_SCHEME
from feedmill.model.webhook import next_delivery_attempt
from feedmill.outbound.apprise_messages import REFUSALS, AppriseSender
from feedmill.store.notifications.notification_queue import (
    record_dropped,
    record_failed_attempt,
    record_given_up,
    record_gone,
    record_postponed,
    record_sent,
    release_targets,
    take_targets,
    waiting_notifications,
)

log = get_logger(__name__)

TARGETS_AT_ONCE = 4
# So many notifications are bundled in one message.
MOST_BUNDLED = 100
# Another attempt would end the same way.
FINAL_REASONS = frozenset(message.code for message in REFUSALS.values())


@dataclass(frozen=True, slots=True)
class NotificationSender:
    tools: OutboundTools
    encryption: Encryption
    apprise: AppriseSender
    browsers: BrowserPush
    blobs: Blobs | None = None

    async def send_due(self) -> int:
        """Checks watched searches and sends to some of the targets that are due; how many there were."""
        tools = self.tools
        await check_due_searches(tools)
        await queue_due_digests(tools)
        token, targets = await take_targets(tools.db, tools.clock(), TARGETS_AT_ONCE)
        if not targets:
            return 0
        work = [self._send_to(target) for target in targets]
        await run_leased_tasks(work, tools.soft_limit, lambda: release_targets(tools.db, token, tools.clock()))
        return len(targets)

    async def _send_to(self, target: NotificationClaim) -> None:
        db = self.tools.db
        waiting = await waiting_notifications(db, target.id, MOST_BUNDLED)
        digest = next((each for each in waiting if each.event is NotificationEvent.DIGEST), None)
        # A digest is a message of its own, and what else waits follows it at once.
        told = [digest] if digest else waiting
        ids = [each.id for each in told]
        message = await self._compose(target, told)
        if message is None:
            return await record_dropped(db, target, ids, self.tools.clock())
        failed = await self._try(target, message)
        if failed is None:
            settled = target if digest is None else replace(target, gap=timedelta(0))
            await record_sent(db, settled, ids, self.tools.clock())
            return None
        return await self._record_failure(target, ids, failed)

    async def _record_failure(self, target: NotificationClaim, ids: Sequence[int], failed: SendFailure) -> None:
        db, now = self.tools.db, self.tools.clock()
        if failed.again_at is not None and not failed.is_counted:
            return await record_postponed(db, target, failed.again_at)
        log.info("notification_failed", target_id=target.id, reason=failed.reason.code, attempts=target.attempts + 1)
        if failed.is_gone:
            await record_gone(db, target)
        elif failed.again_at is None:
            await record_given_up(db, target, ids, failed.reason, now)
        else:
            await record_failed_attempt(db, target, failed.reason, failed.again_at)
        return None

    async def _compose(
        self, target: NotificationClaim, told: Sequence[WaitingNotification]
    ) -> NotificationMessage | None:
        if told and told[0].event is NotificationEvent.DIGEST:
            t = translator(message_language(target))
            return await compose_digest(self.tools.db, self.blobs, target.user_id, told[0].entry_ids, t)
        return await compose_message(self.tools.db, target, told)

    async def _try(self, target: NotificationClaim, message: NotificationMessage) -> SendFailure | None:
        attempts, now = target.attempts + 1, self.tools.clock()
        try:
            url = await asyncio.to_thread(decrypt_url, self.encryption, target.url)
        except UnreadableSecret as error:
            return SendFailure(error.message, next_delivery_attempt(attempts, now))
        if target.scheme == PUSH_SCHEME:
            return await self.browsers.send(url, message, attempts)
        reason = await self.apprise.send(url, message)
        if reason is None:
            return None
        is_final = reason.code in FINAL_REASONS
        return SendFailure(reason, None if is_final else next_delivery_attempt(attempts, self.tools.clock()))
