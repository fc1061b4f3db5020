"""Sends messages to browsers by web push (RFC 8030), with our own HTTP client."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import msgspec

from feedmill.model.fetch_options import FetchOptions
from feedmill.model.fetch_outcome import FetchOutcome
from feedmill.model.notifications.notification_message import NotificationMessage
from feedmill.model.notifications.push_subscription import PushSubscription
from feedmill.optional_imports import import_by_name
from feedmill.outbound.client import Client
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.outbound.redirects import RequestPayload

ENCRYPTION_MODULE = "feedmill.outbound.push_encryption"
LIMITS = FetchLimits(max_bytes=0, total=timedelta(seconds=20), read=timedelta(seconds=15))
# How long the push service keeps a message for a browser that is not running.
KEPT_FOR = timedelta(days=1)
# Push services accept 4096 bytes, of which the encryption takes some.
MAX_TEXT_BYTES = 1000
MAX_TITLE_BYTES = 300


def push_encryption() -> Any:
    """The module that encrypts; raises `MissingExtra` when its libraries are not installed."""
    return import_by_name(ENCRYPTION_MODULE)


async def send_push(
    client: Client,
    subscription: PushSubscription,
    private_key: str,
    contact: str,
    message: NotificationMessage,
    now: datetime,
) -> FetchOutcome:
    """Sends a message to a browser. Redirects are not followed."""
    payload, authorization = await asyncio.to_thread(_seal, subscription, private_key, contact, message, now)
    headers = {
        "Authorization": authorization,
        "Content-Encoding": "aes128gcm",
        "TTL": str(int(KEPT_FOR.total_seconds())),
        "Urgency": "normal",
    }
    return await client.post(subscription.endpoint, payload, LIMITS, FetchOptions(headers=headers))


def _seal(
    subscription: PushSubscription, private_key: str, contact: str, message: NotificationMessage, now: datetime
) -> tuple[RequestPayload, str]:
    encryption = push_encryption()
    body = encryption.encrypt_push(subscription, push_content(message))
    authorization = encryption.push_authorization(private_key, subscription.endpoint, contact, now)
    return RequestPayload(body, "application/octet-stream"), authorization


def push_content(message: NotificationMessage) -> bytes:
    """What the service worker shows, as JSON, short enough for push services."""
    title, body = _cut(message.title, MAX_TITLE_BYTES), _cut(message.short or message.body, MAX_TEXT_BYTES)
    return msgspec.json.encode({"title": title, "body": body, "path": message.path})


def _cut(text: str, most: int) -> str:
    """As much of the text as fits into so many bytes of UTF-8."""
    encoded = text.encode()
    return text if len(encoded) <= most else encoded[: most - 3].decode(errors="ignore") + "…"
