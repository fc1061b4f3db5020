"""Delivers queued events to webhooks, at least once.

    lease the URL → claim deliveries → read the payload → sign → post → record the result

If the process dies, the lease ends and the delivery is sent again with the same id.
"""

import asyncio
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from feedmill.engine.leased_tasks import run_leased_tasks
from feedmill.html.plain_text import plain_text
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.library.filters.rules import FilterRules, judge_entry, stored_rules
from feedmill.library.outbound_tools import OutboundTools
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.fetch_options import FetchOptions
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
from feedmill.outbound.fetch_limits import FetchLimits
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
from feedmill.store.webhooks.event_data import (
    ENTRIES_OF_EVENT,
    EventEntry,
    EventFeed,
    EventFilter,
    read_event_entries,
    read_event_feed,
    read_notifying_filters,
)
from feedmill.store.webhooks.url_leases import lease_due_urls, release_urls

log = get_logger(__name__)

DELIVERIES_AT_ONCE = 100
EACH = 20
LOOK_AT = 1000
LIMITS = FetchLimits(max_bytes=0, total=timedelta(seconds=20), read=timedelta(seconds=15))
MOST_ENTRIES = 100
MOST_JUDGED = 10_000
SUMMARY = 500


async def deliver_due(tools: OutboundTools) -> int:
    """Sends some of the due deliveries, to each URL one after the other; how many there were.

    No other process delivers to these URLs meanwhile.
    """
    urls = await lease_due_urls(tools.db, tools.clock(), LOOK_AT, DELIVERIES_AT_ONCE)
    if not urls.names:
        return 0
    try:
        return await _deliver_to(tools, urls.webhook_ids)
    finally:
        await asyncio.shield(release_urls(tools.db, urls))


async def _deliver_to(tools: OutboundTools, webhook_ids: Sequence[int]) -> int:
    deliveries = await take_deliveries(tools.db, webhook_ids, tools.clock(), DELIVERIES_AT_ONCE, EACH)
    if not deliveries:
        return 0

    async def release() -> None:
        await release_deliveries(tools.db, deliveries[0].token, tools.clock())

    work = [_deliver_in_order(tools, queue) for queue in _by_url(deliveries)]
    if not await run_leased_tasks(work, tools.soft_limit, release):
        log.info("webhook_deliveries_postponed", deliveries=len(deliveries))
    return len(deliveries)


def _by_url(deliveries: Sequence[ClaimedDelivery]) -> list[list[ClaimedDelivery]]:
    queues: dict[str, list[ClaimedDelivery]] = {}
    for taken in deliveries:
        queues.setdefault(taken.url, []).append(taken)
    return list(queues.values())


async def _deliver_in_order(tools: OutboundTools, queue: Sequence[ClaimedDelivery]) -> None:
    for taken in queue:
        failed = await _deliver(tools, taken)
        if failed is not None and (failed.receiver_is_away or failed.is_gone):
            now = tools.clock()
            await postpone_deliveries(tools.db, taken, failed.again_at or now + timedelta(minutes=1), now)
            return


async def _deliver(tools: OutboundTools, taken: ClaimedDelivery) -> DeliveryFailed | None:
    payload = await _read_payload(tools.db, taken)
    if payload is None:
        await record_dropped_delivery(tools.db, taken, tools.clock())
        return None
    outcome = await _post(tools, taken, msgspec.json.encode(payload))
    now = tools.clock()
    if isinstance(outcome, Response):
        await record_delivered(tools.db, taken, outcome.status, now)
        return None
    failed = delivery_failure(outcome, taken.delivery.attempts + 1, now)
    if not isinstance(outcome, Deferred):
        await record_failed_delivery(tools.db, taken, failed, now)
        log.info("webhook_delivery_failed", webhook_id=taken.delivery.webhook_id, reason=str(failed.reason))
    return failed


async def _post(tools: OutboundTools, taken: ClaimedDelivery, body: bytes) -> FetchOutcome:
    timestamp = str(int(tools.clock().timestamp()))
    headers = {
        "X-Feedmill-Event": taken.delivery.event,
        "X-Feedmill-Delivery": str(taken.delivery.id),
        "X-Feedmill-Timestamp": timestamp,
        "X-Feedmill-Signature": signature(taken.secret, timestamp, body),
    }
    payload = RequestPayload(body, "application/json")
    return await tools.client.post(taken.url, payload, LIMITS, FetchOptions(headers=headers))


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """The HMAC-SHA256 of the timestamp and the body."""
    return f"sha256={hmac.digest(secret.encode(), timestamp.encode() + b'.' + body, 'sha256').hex()}"


def delivery_failure(outcome: FetchOutcome, attempts: int, now: datetime) -> DeliveryFailed:
    """What a failed request means for the delivery after so many attempts, including this one."""
    again_at = next_delivery_attempt(attempts, now)
    match outcome:
        case Deferred(until=until):
            return DeliveryFailed(Message("webhook.host_busy"), until, receiver_is_away=True)
        case Throttled(until=until, status=status):
            later = max(until, again_at) if again_at else None
            return DeliveryFailed(Message("webhook.throttled", status=status), later, status, receiver_is_away=True)
        case Gone(status=status):
            return DeliveryFailed(Message("webhook.gone"), None, status, is_gone=True)
        case Refused(detail=detail):
            return DeliveryFailed(detail, None)
        case Retryable(detail=detail, status=status):
            return DeliveryFailed(detail, again_at, status, receiver_is_away=status is None)
        case HttpError(status=status):
            return DeliveryFailed(Message("webhook.answered", status=status), again_at, status)
    return DeliveryFailed(Message("webhook.answered", status=outcome.status), again_at, outcome.status)


# --- payload -----------------------------------------------------------------------------------------


async def _read_payload(db: Database, taken: ClaimedDelivery) -> dict[str, Any] | None:
    """The payload; None when there is nothing to report any more."""
    delivery = taken.delivery
    payload: dict[str, Any] = {
        "event": delivery.event,
        "delivery_id": delivery.id,
        "webhook_id": delivery.webhook_id,
        "created_at": to_iso(delivery.created_at),
    }
    if delivery.event is WebhookEvent.TEST:
        return payload
    feed = await read_event_feed(db, delivery.feed_id, taken.user_id)
    if feed is None:
        return None
    payload["feed"] = _feed(feed)
    if delivery.event not in ENTRIES_OF_EVENT:
        return payload
    count, entries = await _entries_to_report(db, taken, feed.settings)
    if not count:
        return None
    filters: Mapping[int, EventFilter] = {}
    if delivery.event is WebhookEvent.MATCHED_ENTRIES:
        filters = await read_notifying_filters(db, taken.user_id, [entry.id for entry in entries])
    return payload | {"entry_count": count, "entries": await asyncio.to_thread(_entries, entries, filters)}


async def _entries_to_report(
    db: Database, taken: ClaimedDelivery, settings: FeedSettings
) -> tuple[int, Sequence[EventEntry]]:
    """How many entries of the refresh the event is about, and the newest of them, without those that rules block."""
    delivery, has_rules = taken.delivery, settings.has_rules
    most = MOST_JUDGED if has_rules else MOST_ENTRIES
    count, entries = await read_event_entries(
        db, delivery.event, delivery.feed_id, taken.user_id, taken.refresh_token or "", most
    )
    if has_rules:
        entries = await asyncio.to_thread(_not_blocked, stored_rules(settings), entries)
        count = len(entries)
    return count, entries[:MOST_ENTRIES]


def _not_blocked(rules: FilterRules, entries: Sequence[EventEntry]) -> list[EventEntry]:
    return [entry for entry in entries if not judge_entry(rules, entry).is_blocked]


def _feed(feed: EventFeed) -> dict[str, Any]:
    return {
        "id": feed.id,
        "url": feed.url,
        "site_url": feed.site_url,
        "status": feed.status,
        "consecutive_failures": feed.consecutive_failures,
        "last_error": None if feed.last_error is None else str(feed.last_error),
        "subscription_id": feed.subscription_id,
        "title": feed.title,
    }


def _entries(entries: Sequence[EventEntry], filters: Mapping[int, EventFilter]) -> list[dict[str, Any]]:
    return [_entry(entry, filters.get(entry.id)) for entry in entries]


def _entry(entry: EventEntry, matched_by: EventFilter | None) -> dict[str, Any]:
    fields = {
        "id": entry.id,
        "title": entry.title,
        "link": entry.link,
        "author": entry.author,
        "published_at": entry.published_at,
        "undated": entry.undated,
        "summary": plain_text(entry.summary or entry.content_html or "", SUMMARY),
    }
    return fields if matched_by is None else fields | {"filter": matched_by._asdict()}
