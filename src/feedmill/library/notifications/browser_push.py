"""Browsers as notification targets: their subscriptions, the key of this instance, and messages to them."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256

import msgspec

from feedmill.encryption import Encryption, UnreadableSecret
from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.notifications.target_urls import decrypt_url
from feedmill.library.outbound_tools import OutboundTools
from feedmill.model.encrypted import Encrypted
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
from feedmill.model.notifications.notification_message import NotificationMessage
from feedmill.model.notifications.notification_target import MAX_URL_LENGTH, NotificationTarget, SendFailure
from feedmill.model.notifications.push_subscription import PUSH_SCHEME, PushSubscription
from feedmill.model.webhook import next_delivery_attempt
from feedmill.optional_imports import MissingExtra, check_installed
from feedmill.outbound.user_urls import parse_url_without_login
from feedmill.outbound.web_push import push_encryption, send_push
from feedmill.store.instance_state import init_instance_value, read_instance_value

KEY_NAME = "web_push_private_key"
# Ties the encrypted key to its place.
KEY_PURPOSE = "instance_state.web_push_private_key"
MAX_KEY_LENGTH = 200
# Push services know nothing of a subscription that ended (404 in some, 410 in others).
GONE_STATUSES = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class BrowserPush:
    """Notifies browsers. `contact` tells push services who sends: a URL of the instance."""

    tools: OutboundTools
    encryption: Encryption
    contact: str

    async def public_key(self) -> str:
        """The key that browsers subscribe with; raises `MissingExtra` or `UnreadableSecret`."""
        encryption = await asyncio.to_thread(push_encryption)
        key: str = encryption.public_key_of(await self._private_key())
        return key

    async def find_target(self, targets: Sequence[NotificationTarget], endpoint: str) -> NotificationTarget | None:
        """The target of this browser, if it has subscribed before."""
        wanted = fingerprint(endpoint)
        known = await self.fingerprints(targets)
        return next((target for target in targets if known.get(target.id) == wanted), None)

    async def fingerprints(self, targets: Sequence[NotificationTarget]) -> dict[int, str]:
        """By id of target the fingerprint of its browser, by which the browser finds itself in a list."""
        return await asyncio.to_thread(self._fingerprints, targets)

    async def send(self, stored: str, message: NotificationMessage, attempts: int) -> SendFailure | None:
        """Sends a message to a browser; why it failed after so many attempts, including this one, or None."""
        subscription, now = read_subscription(stored), self.tools.clock()
        try:
            key = await self._private_key()
            outcome = await send_push(self.tools.client, subscription, key, self.contact, message, now)
        except (UnreadableSecret, MissingExtra) as error:
            return SendFailure(error.message, next_delivery_attempt(attempts, now))
        return None if isinstance(outcome, Response) else push_failure(outcome, attempts, now)

    async def _private_key(self) -> str:
        """The key of this instance, which is made with the first use and stays."""
        db = self.tools.db
        stored = await read_instance_value(db, KEY_NAME)
        if stored is None:
            made = await asyncio.to_thread(self._make_key)
            stored = await init_instance_value(db, KEY_NAME, made.value)
        return await asyncio.to_thread(self.encryption.decrypt, Encrypted(stored), KEY_PURPOSE)

    def _make_key(self) -> Encrypted:
        return self.encryption.encrypt(push_encryption().make_private_key(), KEY_PURPOSE)

    def _fingerprints(self, targets: Sequence[NotificationTarget]) -> dict[int, str]:
        found = {}
        for target in targets:
            if target.scheme == PUSH_SCHEME:
                try:
                    found[target.id] = fingerprint(read_subscription(decrypt_url(self.encryption, target.url)).endpoint)
                except UnreadableSecret:
                    continue
        return found


def check_subscription(endpoint: str, p256dh: str, auth: str) -> PushSubscription:
    """The subscription of a browser; raises `BadInput`. Whether its address is allowed is checked when it is used."""
    bad = BadInput(Message("notification.bad_subscription"), "endpoint")
    if len(endpoint) > MAX_URL_LENGTH or max(len(p256dh), len(auth)) > MAX_KEY_LENGTH:
        raise bad
    try:
        push_encryption().check_browser_keys(p256dh, auth)
        return PushSubscription(parse_url_without_login(endpoint), p256dh, auth)
    except (ValueError, BadInput) as error:
        raise bad from error
    except MissingExtra as error:
        raise BadInput(error.message, "endpoint") from error


def write_subscription(subscription: PushSubscription) -> str:
    """The subscription as it is encrypted and stored."""
    return msgspec.json.encode(asdict(subscription)).decode()


def read_subscription(stored: str) -> PushSubscription:
    return msgspec.json.decode(stored, type=PushSubscription)


def fingerprint(endpoint: str) -> str:
    """A short hash of the address of a browser; the script `push.js` makes the same."""
    return sha256(endpoint.encode()).hexdigest()[:16]


def push_failure(outcome: FetchOutcome, attempts: int, now: datetime) -> SendFailure:
    """What a failed request means for the message after so many attempts, including this one."""
    again_at = next_delivery_attempt(attempts, now)
    match outcome:
        case Deferred(until=until):
            return SendFailure(Message("notification.push_busy"), until, is_counted=False)
        case Throttled(until=until, status=status):
            return SendFailure(_answered(status), max(until, again_at) if again_at else None)
        case Gone(status=status) | HttpError(status=status) if status in GONE_STATUSES:
            return SendFailure(Message("notification.push_gone"), None, is_gone=True)
        case Refused(detail=detail):
            return SendFailure(detail, None)
        case Retryable(detail=detail):
            return SendFailure(detail, again_at)
    return SendFailure(_answered(outcome.status), again_at)


def _answered(status: int | None) -> Message:
    return Message("notification.push_answered", status=status or 0)


def is_push_installed() -> bool:
    try:
        check_installed("pywebpush")
    except MissingExtra:
        return False
    return True
