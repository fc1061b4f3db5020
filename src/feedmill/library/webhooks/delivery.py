"""Delivers queued events to webhooks, at least once. Read this file first.

    hold the address → take → read what there is to tell → sign → post → settle

Killed anywhere, a delivery's lease ends and it is sent again with the same id: at least once.
"""

import asyncio
import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from feedmill.engine.concurrency import run_lot
from feedmill.html.plain_text import plain_text
from feedmill.lazy_loggers import get_logger
from feedmill.library.filters.rules import FilterRules, judge_entry, stored_rules
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.fetch_outcome import (
    Deferred,
    FetchOutcome,
    Gone,
    HttpError,
    Refused,
    Response,
    Retryable,
    Throttled,
)
from feedmill.model.timestamps import to_iso
from feedmill.model.webhook import ClaimedDelivery, DeliveryFailed, WebhookEvent, next_delivery_attempt
from feedmill.outbound.client import Client
from feedmill.outbound.fetch_options import FetchLimits, FetchOptions
from feedmill.outbound.redirects import RequestPayload
from feedmill.store.database import Database
from feedmill.store.webhooks.delivery_queue import (
    postpone_deliveries,
    record_delivered,
    record_dropped_delivery,
    record_failed_delivery,
    release_deliveries,
    take_deliveries,
)
from feedmill.store.webhooks.event_data import EventEntry, EventFeed, read_event_entries, read_event_feed
from feedmill.store.webhooks.url_leases import lease_due_urls, release_urls

log = get_logger(__name__)

LOT = 100
EACH = 20
LOOK_AT = 1000
# Well within the lease, so that nobody else gets what we are about to send.
SOFT_LIMIT = timedelta(seconds=80)
LIMITS = FetchLimits(max_bytes=0, total=timedelta(seconds=20), read=timedelta(seconds=15))
MOST_ENTRIES = 100
MOST_JUDGED = 10_000
SUMMARY = 500


@dataclass(frozen=True, slots=True)
class WebhookSender:
    """What deliveries are sent with."""

    db: Database
    client: Client
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    soft_limit: timedelta = SOFT_LIMIT


async def deliver_due(messenger: WebhookSender) -> int:
    """Sends a lot of what is due, to each address one after the other; how many there were.

    No other process delivers to those addresses meanwhile.
    """
    addresses = await lease_due_urls(messenger.db, messenger.clock(), LOOK_AT, LOT)
    if not addresses.names:
        return 0
    try:
        return await _deliver_to(messenger, addresses.webhook_ids)
    finally:
        await asyncio.shield(release_urls(messenger.db, addresses))


async def _deliver_to(messenger: WebhookSender, webhook_ids: Sequence[int]) -> int:
    lot = await take_deliveries(messenger.db, webhook_ids, messenger.clock(), LOT, EACH)
    if not lot:
        return 0

    async def release() -> None:
        await release_deliveries(messenger.db, lot[0].token, messenger.clock())

    work = [_deliver_in_order(messenger, queue) for queue in _by_address(lot)]
    if not await run_lot(work, messenger.soft_limit, release):
        log.info("webhook_deliveries_postponed", deliveries=len(lot))
    return len(lot)


def _by_address(lot: Sequence[ClaimedDelivery]) -> list[list[ClaimedDelivery]]:
    queues: dict[str, list[ClaimedDelivery]] = {}
    for taken in lot:
        queues.setdefault(taken.url, []).append(taken)
    return list(queues.values())


async def _deliver_in_order(messenger: WebhookSender, queue: Sequence[ClaimedDelivery]) -> None:
    for taken in queue:
        failed = await _deliver(messenger, taken)
        if failed is not None and (failed.receiver_is_away or failed.is_gone):
            now = messenger.clock()
            await postpone_deliveries(messenger.db, taken, failed.again_at or now + timedelta(minutes=1), now)
            return


async def _deliver(messenger: WebhookSender, taken: ClaimedDelivery) -> DeliveryFailed | None:
    told = await _read_payload(messenger.db, taken)
    if told is None:
        await record_dropped_delivery(messenger.db, taken, messenger.clock())
        return None
    outcome = await _post(messenger, taken, msgspec.json.encode(told))
    now = messenger.clock()
    if isinstance(outcome, Response):
        await record_delivered(messenger.db, taken, outcome.status, now)
        return None
    failed = delivery_failure(outcome, taken.delivery.attempts + 1, now)
    if not isinstance(outcome, Deferred):
        await record_failed_delivery(messenger.db, taken, failed, now)
        log.info("webhook_delivery_failed", webhook_id=taken.delivery.webhook_id, reason=failed.reason)
    return failed


async def _post(messenger: WebhookSender, taken: ClaimedDelivery, body: bytes) -> FetchOutcome:
    timestamp = str(int(messenger.clock().timestamp()))
    headers = {
        "X-Feedmill-Event": taken.delivery.event,
        "X-Feedmill-Delivery": str(taken.delivery.id),
        "X-Feedmill-Timestamp": timestamp,
        "X-Feedmill-Signature": signature(taken.secret, timestamp, body),
    }
    payload = RequestPayload(body, "application/json")
    return await messenger.client.post(taken.url, payload, LIMITS, FetchOptions(headers=headers))


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """What only who knows the secret can write under this body at this time."""
    return f"sha256={hmac.digest(secret.encode(), timestamp.encode() + b'.' + body, 'sha256').hex()}"


def delivery_failure(outcome: FetchOutcome, tries: int, now: datetime) -> DeliveryFailed:
    """What an answer that is no success means for the delivery, which was tried so many times with this one."""
    again_at = next_delivery_attempt(tries, now)
    match outcome:
        case Deferred(until=until):
            return DeliveryFailed("its host is asked too often", until, receiver_is_away=True)
        case Throttled(until=until, status=status):
            later = max(until, again_at) if again_at else None
            return DeliveryFailed(f"the receiver asks for a rest ({status})", later, status, receiver_is_away=True)
        case Gone(status=status):
            return DeliveryFailed("the receiver says that it is gone (410)", None, status, is_gone=True)
        case Refused(detail=detail):
            return DeliveryFailed(detail, None)
        case Retryable(detail=detail, status=status):
            return DeliveryFailed(detail, again_at, status, receiver_is_away=status is None)
        case HttpError(status=status):
            return DeliveryFailed(f"the receiver answered {status}", again_at, status)
    return DeliveryFailed(f"the receiver answered {outcome.status}", again_at, outcome.status)


# --- what is told -----------------------------------------------------------------------------------------


async def _read_payload(db: Database, taken: ClaimedDelivery) -> dict[str, Any] | None:
    """What is sent; None when there is nothing to tell any more."""
    delivery = taken.delivery
    told: dict[str, Any] = {
        "event": delivery.event,
        "delivery_id": delivery.id,
        "webhook_id": delivery.webhook_id,
        "created_at": to_iso(delivery.created_at),
    }
    if delivery.event is WebhookEvent.TEST:
        return told
    feed = await read_event_feed(db, delivery.feed_id, taken.user_id)
    if feed is None:
        return None
    told["feed"] = _feed(feed)
    if delivery.event is not WebhookEvent.NEW_ENTRIES:
        return told
    count, brought = await _new_entries(db, taken, feed.settings)
    return told | {"entry_count": count, "entries": await asyncio.to_thread(_entries, brought)} if count else None


async def _new_entries(
    db: Database, taken: ClaimedDelivery, settings: FeedSettings
) -> tuple[int, Sequence[EventEntry]]:
    """How many entries came, and the newest of them; without those that the person's rules block."""
    most = MOST_JUDGED if settings.has_rules else MOST_ENTRIES
    count, brought = await read_event_entries(db, taken.delivery.feed_id, taken.refresh_token or "", most)
    if settings.has_rules:
        brought = await asyncio.to_thread(_not_blocked, stored_rules(settings), brought)
        count = len(brought)
    return count, brought[:MOST_ENTRIES]


def _not_blocked(rules: FilterRules, entries: Sequence[EventEntry]) -> list[EventEntry]:
    return [entry for entry in entries if not judge_entry(rules, entry).is_blocked]


def _feed(feed: EventFeed) -> dict[str, Any]:
    return {
        "id": feed.id,
        "url": feed.url,
        "site_url": feed.site_url,
        "status": feed.status,
        "consecutive_failures": feed.consecutive_failures,
        "last_error": feed.last_error,
        "subscription_id": feed.subscription_id,
        "title": feed.title,
    }


def _entries(entries: Sequence[EventEntry]) -> list[dict[str, Any]]:
    return [_entry(entry) for entry in entries]


def _entry(entry: EventEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "title": entry.title,
        "link": entry.link,
        "author": entry.author,
        "published_at": entry.published_at,
        "summary": plain_text(entry.summary or entry.content_html or "", SUMMARY),
    }
