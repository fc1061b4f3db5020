"""Webhooks, their events, deliveries and retry delays."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

# So many failures in a row, and a webhook is paused.
PAUSE_AFTER = 50
# So many tries, and a delivery is given up.
MAX_ATTEMPTS = 10
FIRST_RETRY_DELAY = timedelta(minutes=1)
MAX_RETRY_DELAY = timedelta(hours=6)


class WebhookEvent(StrEnum):
    """What a webhook can be called for; `test` only when its owner asks."""

    NEW_ENTRIES = "entries.new"
    FEED_FAILING = "feed.failing"
    FEED_HEALED = "feed.healed"
    TEST = "test"


class DeliveryStatus(StrEnum):
    """`dropped`: by the time it could be sent there was nothing left to tell."""

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
    last_error: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Delivery:
    """`attempts` counts those that failed and the one that did not. `next_attempt_at` is None when it is over."""

    id: int
    webhook_id: int
    event: WebhookEvent
    feed_id: int
    status: DeliveryStatus
    attempts: int
    next_attempt_at: datetime | None
    http_status: int | None
    last_error: str | None
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class ClaimedDelivery:
    """A delivery in our hand: only `token` can settle it."""

    delivery: Delivery
    token: str
    refresh_token: str | None
    user_id: int
    url: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class DeliveryFailed:
    """Why a try failed and when the next one is; None for never. `receiver_is_away`: the others needn't be tried."""

    reason: str
    again_at: datetime | None
    http_status: int | None = None
    receiver_is_away: bool = False
    is_gone: bool = False


def next_delivery_attempt(tries: int, now: datetime) -> datetime | None:
    """When a delivery that has failed so many times is tried again; None after the last."""
    if tries >= MAX_ATTEMPTS:
        return None
    return now + min(FIRST_RETRY_DELAY * (1 << tries - 1), MAX_RETRY_DELAY)
