"""The spine: how what happened reaches a webhook. Read this file first.

    take → read what there is to tell → sign → post → settle

Killed anywhere, a delivery's lease ends and it is sent again with the same id: at least once.
"""

import asyncio
import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

import msgspec
import structlog

from feedmill.collect.html import plain_text
from feedmill.engine.side_by_side import all_of
from feedmill.library.rules import Rules, kept_rules
from feedmill.library.rules import judge as judge_entry
from feedmill.model.feed import PRIVATE_MARK
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.outcome import Deferred, Gone, HttpError, Outcome, Refused, Response, Retryable, Throttled
from feedmill.model.times import to_text
from feedmill.model.webhook import Event, Taken, Undelivered, next_try
from feedmill.outbound.client import Client
from feedmill.outbound.options import FetchOptions, Limits
from feedmill.outbound.trip import Payload
from feedmill.store.database import Database, Row
from feedmill.store.deliveries import let_go, put_off, settle_delivered, settle_dropped, settle_failed, take_deliveries
from feedmill.store.delivery_texts import read_brought, read_feed
from feedmill.store.feed_settings import decoded
from feedmill.store.sifting import to_try

log = structlog.get_logger(__name__)

LOT = 100
EACH = 20
# Well within the lease, so that nobody else gets what we are about to send.
SOFT_LIMIT = timedelta(seconds=80)
LIMITS = Limits(max_bytes=0, total=timedelta(seconds=20), read=timedelta(seconds=15))
MOST_ENTRIES = 100
MOST_JUDGED = 10_000
SUMMARY = 500


@dataclass(frozen=True, slots=True)
class Messenger:
    """What deliveries are sent with."""

    db: Database
    client: Client
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    soft_limit: timedelta = SOFT_LIMIT


async def deliver(messenger: Messenger) -> int:
    """Sends a lot of what is due, each webhook's one after the other; how many there were."""
    lot = await take_deliveries(messenger.db, messenger.clock(), LOT, EACH)
    if not lot:
        return 0
    queues = [list(queue) for _, queue in groupby(lot, key=lambda taken: taken.delivery.webhook_id)]
    try:
        async with asyncio.timeout(messenger.soft_limit.total_seconds()):
            await all_of([_deliver_in_order(messenger, queue) for queue in queues])
    except TimeoutError:
        log.info("some deliveries wait for the next lot", taken=len(lot))
    finally:
        await asyncio.shield(let_go(messenger.db, lot[0].token, messenger.clock()))
    return len(lot)


async def _deliver_in_order(messenger: Messenger, queue: Sequence[Taken]) -> None:
    for taken in queue:
        failed = await _deliver(messenger, taken)
        if failed is not None and (failed.receiver_is_away or failed.is_gone):
            now = messenger.clock()
            await put_off(messenger.db, taken, failed.again_at or now + timedelta(minutes=1), now)
            return


async def _deliver(messenger: Messenger, taken: Taken) -> Undelivered | None:
    told = await _read(messenger.db, taken)
    if told is None:
        await settle_dropped(messenger.db, taken, messenger.clock())
        return None
    outcome = await _post(messenger, taken, msgspec.json.encode(told))
    now = messenger.clock()
    if isinstance(outcome, Response):
        await settle_delivered(messenger.db, taken, outcome.status, now)
        return None
    failed = judge(outcome, taken.delivery.attempts + 1, now)
    if not isinstance(outcome, Deferred):
        await settle_failed(messenger.db, taken, failed, now)
        log.info("a webhook was not reached", webhook_id=taken.delivery.webhook_id, reason=failed.reason)
    return failed


async def _post(messenger: Messenger, taken: Taken, body: bytes) -> Outcome:
    timestamp = str(int(messenger.clock().timestamp()))
    headers = {
        "X-Feedmill-Event": taken.delivery.event,
        "X-Feedmill-Delivery": str(taken.delivery.id),
        "X-Feedmill-Timestamp": timestamp,
        "X-Feedmill-Signature": signature(taken.secret, timestamp, body),
    }
    payload = Payload(body, "application/json")
    return await messenger.client.post(taken.url, payload, LIMITS, FetchOptions(headers=headers))


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """What only who knows the secret can write under this body at this time."""
    return f"sha256={hmac.digest(secret.encode(), timestamp.encode() + b'.' + body, 'sha256').hex()}"


def judge(outcome: Outcome, tries: int, now: datetime) -> Undelivered:
    """What an answer that is no success means for the delivery, which was tried so many times with this one."""
    again_at = next_try(tries, now)
    match outcome:
        case Deferred(until=until):
            return Undelivered("its host is asked too often", until, receiver_is_away=True)
        case Throttled(until=until, status=status):
            later = max(until, again_at) if again_at else None
            return Undelivered(f"the receiver asks for a rest ({status})", later, status, receiver_is_away=True)
        case Gone(status=status):
            return Undelivered("the receiver says that it is gone (410)", None, status, is_gone=True)
        case Refused(detail=detail):
            return Undelivered(detail, None)
        case Retryable(detail=detail, status=status):
            return Undelivered(detail, again_at, status, receiver_is_away=status is None)
        case HttpError(status=status):
            return Undelivered(f"the receiver answered {status}", again_at, status)
    return Undelivered(f"the receiver answered {outcome.status}", again_at, outcome.status)


# --- what is told -----------------------------------------------------------------------------------------


async def _read(db: Database, taken: Taken) -> dict[str, Any] | None:
    """What is sent; None when there is nothing to tell any more."""
    delivery = taken.delivery
    told: dict[str, Any] = {
        "event": delivery.event, "delivery_id": delivery.id, "webhook_id": delivery.webhook_id,
        "created_at": to_text(delivery.created_at),
    }  # fmt: skip
    if delivery.event is Event.TEST:
        return told
    feed = await read_feed(db, delivery.feed_id, taken.user_id)
    if feed is None:
        return None
    told["feed"] = _feed(feed)
    if delivery.event is not Event.NEW_ENTRIES:
        return told
    count, brought = await _brought(db, taken, decoded(feed["settings"]))
    return told | {"entry_count": count, "entries": [_entry(row) for row in brought]} if count else None


async def _brought(db: Database, taken: Taken, settings: FeedSettings) -> tuple[int, Sequence[Row]]:
    """How many entries came, and the newest of them; without those that the person's rules block."""
    most = MOST_JUDGED if settings.has_rules else MOST_ENTRIES
    count, brought = await read_brought(db, taken.delivery.feed_id, taken.refresh_token or "", most)
    if settings.has_rules:
        brought = await asyncio.to_thread(_not_blocked, kept_rules(settings), brought)
        count = len(brought)
    return count, brought[:MOST_ENTRIES]


def _not_blocked(rules: Rules, brought: Sequence[Row]) -> list[Row]:
    return [row for row in brought if not judge_entry(rules, to_try(row)).is_blocked]


def _feed(row: Row) -> dict[str, Any]:
    told = {name: value for name, value in row.items() if name != "settings"}
    return told | {"url": row["url"].partition(PRIVATE_MARK)[0]}


def _entry(row: Row) -> dict[str, Any]:
    same = {name: row[name] for name in ("id", "title", "link", "author", "published_at")}
    return same | {"summary": plain_text(row["summary"] or row["content_html"] or "", SUMMARY)}
