"""Subscribes feeds at their WebSub hubs: finds what is missing, asks the hubs, renews leases, ends what nobody reads.

lease the row → record what is asked for → ask the hub → record when it is asked again, unless it confirms before

The hub confirms or denies at the callback (`confirm_intent.py`). Whatever is lost, the row is asked for again.
"""

import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_urlsafe
from urllib.parse import urlencode

from feedmill.engine.leased_tasks import run_leased_tasks
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.library.hubs.callbacks import callback_url
from feedmill.library.outbound_tools import OutboundTools
from feedmill.model.fetch_outcome import Deferred, FetchOutcome, Refused, Response, Retryable, Throttled
from feedmill.model.hosts import host_of
from feedmill.model.syndication.push import HubMode, HubSubscription
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.outbound.redirects import RequestPayload
from feedmill.store.hubs.requests import (
    drop_unanswered,
    record_answer,
    record_asking,
    record_lapse,
    release_requests,
    take_requests,
)
from feedmill.store.hubs.subscriptions import (
    add_missing_subscriptions,
    end_all_subscriptions,
    end_unused_subscriptions,
)

log = get_logger(__name__)

AT_ONCE = 20
LOOK_EVERY_SECONDS = 30.0
# What hubs are asked for; most grant it.
LEASE = timedelta(days=10)
FIRST_WAIT, LONGEST_WAIT = timedelta(minutes=10), timedelta(days=1)
# A hub that does not confirm the end of a subscription finds its callback gone.
MAX_UNSUBSCRIBE_ATTEMPTS = 3
LIMITS = FetchLimits(max_bytes=0, total=timedelta(seconds=20), read=timedelta(seconds=15))
FORM = "application/x-www-form-urlencoded"


@dataclass(slots=True)
class HubSubscriber:
    """Keeps the subscriptions at hubs. `site` is the address of this server, empty if hubs can't reach it.

    Without `is_enabled` it ends all subscriptions.
    """

    tools: OutboundTools
    site: str
    is_enabled: bool = True
    look_every_seconds: float = LOOK_EVERY_SECONDS
    _looked_at: float | None = None

    async def run(self) -> int:
        """Looks for what is missing or unused from time to time, and sends due requests; how many there were."""
        if not self.site:
            return 0
        if self._looked_at is None or time.monotonic() >= self._looked_at + self.look_every_seconds:
            await self._look()
            self._looked_at = time.monotonic()
        return await self._send_due()

    async def _look(self) -> None:
        db, now = self.tools.db, self.tools.clock()
        if self.is_enabled:
            await end_unused_subscriptions(db, now)
            await add_missing_subscriptions(db, now)
        else:
            await end_all_subscriptions(db, now)

    async def _send_due(self) -> int:
        tools = self.tools
        token, due = await take_requests(tools.db, tools.clock(), AT_ONCE)
        if not due:
            return 0

        async def release() -> None:
            await release_requests(tools.db, token, tools.clock())

        await run_leased_tasks([self._ask(each, token) for each in due], tools.soft_limit, release)
        return len(due)

    async def _ask(self, subscription: HubSubscription, token: str) -> None:
        db, now = self.tools.db, self.tools.clock()
        if subscription.wanted is HubMode.UNSUBSCRIBE and _needs_no_answer(subscription):
            await drop_unanswered(db, subscription, token)
            return
        if subscription.lease_until is not None and subscription.lease_until <= now:
            await record_lapse(db, subscription, token, Message("hub.lease_ended"), now)
        secret = _secret_for(subscription)
        if not await record_asking(db, subscription, token, subscription.wanted, secret):
            return
        outcome = await self.tools.client.post(subscription.hub_url, self._payload(subscription, secret), LIMITS)
        problem = _problem(subscription, outcome)
        if problem is not None:
            log.info("hub_request_failed", feed_id=subscription.feed_id, hub=subscription.hub_url, reason=str(problem))
        await record_answer(db, subscription, token, _again_at(subscription, outcome, self.tools.clock()), problem)

    def _payload(self, subscription: HubSubscription, secret: str | None) -> RequestPayload:
        form = {
            "hub.mode": subscription.wanted,
            "hub.topic": subscription.topic_url,
            "hub.callback": callback_url(self.site, subscription.callback_token),
        }
        if subscription.wanted is HubMode.SUBSCRIBE:
            form |= {"hub.secret": secret or "", "hub.lease_seconds": str(int(LEASE.total_seconds()))}
        return RequestPayload(urlencode(form).encode(), FORM, is_redirected=True)


def _needs_no_answer(ended: HubSubscription) -> bool:
    """Whether the hub never confirmed the subscription, or does not confirm its end."""
    return ended.lease_until is None or ended.attempts >= MAX_UNSUBSCRIBE_ATTEMPTS


def _secret_for(subscription: HubSubscription) -> str | None:
    """A new secret for each lease; the same for a request that is repeated, because the hub may confirm either."""
    if subscription.wanted is HubMode.UNSUBSCRIBE:
        return subscription.new_secret
    return subscription.new_secret if subscription.asked is HubMode.SUBSCRIBE else token_urlsafe(32)


def _problem(subscription: HubSubscription, outcome: FetchOutcome) -> Message | None:
    """What went wrong; a hub that accepts the request and never confirms it can't reach us, perhaps."""
    match outcome:
        case Response() | Deferred():
            is_repeated = subscription.asked is subscription.wanted
            return Message("hub.not_confirmed", hub=host_of(subscription.hub_url)) if is_repeated else None
        case Retryable(detail=detail) | Refused(detail=detail):
            return detail
    return Message("hub.answered", hub=host_of(subscription.hub_url), status=outcome.status)


def _again_at(subscription: HubSubscription, outcome: FetchOutcome, now: datetime) -> datetime:
    wait: timedelta = min(FIRST_WAIT * 2 ** min(subscription.attempts, 20), LONGEST_WAIT)
    if isinstance(outcome, Deferred):
        return outcome.until
    return max(outcome.until, now + wait) if isinstance(outcome, Throttled) else now + wait
