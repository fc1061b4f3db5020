"""Webhooks, their events, deliveries and retry delays."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from feedmill.i18n.messages import Message

# A webhook is paused after this many failures in a row.
PAUSE_AFTER = 50
# A delivery is given up after this many attempts.
MAX_ATTEMPTS = 10
FIRST_RETRY_DELAY = timedelta(minutes=1)
MAX_RETRY_DELAY = timedelta(hours=6)


class WebhookEvent(StrEnum):
    """The events of webhooks; `entries.matched` is for filters that notify, `test` for the owner's request."""

    NEW_ENTRIES = "entries.new"
    MATCHED_ENTRIES = "entries.matched"
    FEED_FAILING = "feed.failing"
    FEED_HEALED = "feed.healed"
    TEST = "test"


class DeliveryStatus(StrEnum):
    """`dropped`: when it could be sent, there was nothing left to report."""

    PENDING = "pending"
    DELIVERED = "delivered"
    DEAD = "dead"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Webhook:
    id: int
    user_id: int
    url: str
    secret: str = field(repr=False)
    events: tuple[WebhookEvent, ...]
    paused: bool
    consecutive_failures: int
    last_success_at: datetime | None
    last_error: Message | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Delivery:
    """`attempts` counts failed attempts and the successful one. `next_attempt_at` is None when it has ended."""

    id: int
    webhook_id: int
    event: WebhookEvent
    feed_id: int
    status: DeliveryStatus
    attempts: int
    next_attempt_at: datetime | None
    http_status: int | None
    last_error: Message | None
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class ClaimedDelivery:
    """A delivery leased by this process: only `token` can settle it."""

    delivery: Delivery
    token: str
    refresh_token: str | None
    user_id: int
    url: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class DeliveryFailed:
    """Why an attempt failed, and when it is retried; None for never. `receiver_is_away`: skip its other deliveries."""

    reason: Message
    again_at: datetime | None
    http_status: int | None = None
    receiver_is_away: bool = False
    is_gone: bool = False


def next_delivery_attempt(tries: int, now: datetime) -> datetime | None:
    """When a delivery that failed `tries` times is retried; None after the last attempt."""
    if tries >= MAX_ATTEMPTS:
        return None
    return now + min(FIRST_RETRY_DELAY * (1 << tries - 1), MAX_RETRY_DELAY)
