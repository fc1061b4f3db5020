"""Answers a hub that asks whether we want a subscription, and takes note of one that it denies.

Sections 5.2 and 5.3 of W3C's WebSub.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.model.hosts import host_of
from feedmill.model.syndication.push import HubMode, HubSubscription
from feedmill.store.database import Database
from feedmill.store.hubs.subscriptions import (
    confirm_subscription,
    deny_subscription,
    drop_subscription,
    subscription_of_callback,
)

log = get_logger(__name__)

DENIED = "denied"
# Shorter ones would be renewed all the time; of longer ones no more counts, so that secrets change.
SHORTEST_LEASE, LONGEST_LEASE = timedelta(minutes=10), timedelta(days=30)
RENEW_AFTER_SHARE = 0.75
# A hub that denied a subscription is asked again then.
DENIED_FOR = timedelta(days=7)
LONGEST_CHALLENGE = 1000
LONGEST_REASON = 200


async def answer_hub(db: Database, callback_token: str, asked: Mapping[str, str], now: datetime) -> str | None:
    """The challenge, if the hub asks for what we want; empty for a denial; None for anything else."""
    subscription = await subscription_of_callback(db, callback_token)
    if subscription is None or asked.get("hub.topic") != subscription.topic_url:
        return None
    if asked.get("hub.mode") == DENIED:
        await _deny(db, subscription, asked.get("hub.reason", ""), now)
        return ""
    challenge = asked.get("hub.challenge", "")
    if not 1 <= len(challenge) <= LONGEST_CHALLENGE or not (challenge.isascii() and challenge.isprintable()):
        return None
    return challenge if await _confirm(db, subscription, asked, now) else None


async def _confirm(db: Database, subscription: HubSubscription, asked: Mapping[str, str], now: datetime) -> bool:
    match asked.get("hub.mode"):
        case HubMode.SUBSCRIBE if subscription.wanted is HubMode.SUBSCRIBE:
            return await _confirm_subscription(db, subscription, asked.get("hub.lease_seconds", ""), now)
        case HubMode.UNSUBSCRIBE if subscription.asked is HubMode.UNSUBSCRIBE:
            await drop_subscription(db, subscription)
            log.info("hub_unsubscribed", feed_id=subscription.feed_id, hub=subscription.hub_url)
            return True
    return False


async def _confirm_subscription(db: Database, subscription: HubSubscription, seconds: str, now: datetime) -> bool:
    """A hub may ask again about a subscription that is active: the answer is the same, and nothing changes."""
    if subscription.asked is not HubMode.SUBSCRIBE:
        return subscription.is_active(now)
    lease = _lease(seconds)
    if lease is None:
        return False
    await confirm_subscription(db, subscription, now + lease, now + lease * RENEW_AFTER_SHARE)
    log.info(
        "hub_subscribed", feed_id=subscription.feed_id, hub=subscription.hub_url, seconds=int(lease.total_seconds())
    )
    return True


def _lease(seconds: str) -> timedelta | None:
    """The length of the lease; None if it can't be read or is too short."""
    if not (seconds.isascii() and seconds.isdigit() and len(seconds) <= 12):
        return None
    lease = timedelta(seconds=int(seconds))
    return min(lease, LONGEST_LEASE) if lease >= SHORTEST_LEASE else None


async def _deny(db: Database, subscription: HubSubscription, text: str, now: datetime) -> None:
    given = " ".join(text[:LONGEST_REASON].split())
    reason = Message("hub.denied", hub=host_of(subscription.hub_url), reason=given or "–")
    await deny_subscription(db, subscription, reason, now + DENIED_FOR, now)
    log.info("hub_subscription_denied", feed_id=subscription.feed_id, hub=subscription.hub_url, reason=given)
