"""Receives what a hub pushes: checks the signature, archives the body, and queues it before the hub is answered.

The callback tells which subscription it is for, and the signature that it comes from that hub. Headers tell nothing:
they are not signed. What is not signed, or was pushed before, changes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from hashlib import sha256

import msgspec

from feedmill.archive.blobs import Blobs
from feedmill.archive.object_keys import pushed_body_key
from feedmill.archive.raw_bodies import CONTENT_TYPE
from feedmill.lazy_loggers import get_logger
from feedmill.library.hubs.callbacks import is_signed
from feedmill.model.syndication.push import HubMode, HubSubscription
from feedmill.run_in_thread import run_in_thread_if_large
from feedmill.store.database import Database
from feedmill.store.hubs.pushes import NewPush, add_push, count_recent_bytes, count_recent_pushes, is_known_push
from feedmill.store.hubs.subscriptions import subscription_of_callback

log = get_logger(__name__)

# More than any feed publishes; a hub is asked to wait then.
MAX_PUSHES_PER_HOUR = 120
HOUR = timedelta(hours=1)
# They are archived, so a hub must not fill the object store.
MAX_BYTES_PER_DAY = 500_000_000
DAY = timedelta(days=1)
SIGNATURE_HEADER = "x-hub-signature"
KEPT_HEADERS = ("content-type", "link")
LONGEST_HEADER = 2000


class PushVerdict(Enum):
    """What becomes of a push. `IGNORED` is answered like `ACCEPTED`, so that nobody can try out signatures."""

    ACCEPTED = "accepted"
    IGNORED = "ignored"
    TOO_MANY = "too_many"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PushReceiver:
    """Where pushes are kept."""

    db: Database
    blobs: Blobs

    async def find(self, callback_token: str) -> HubSubscription | None:
        """The subscription of the callback; None if there is none, or it is no longer wanted."""
        found = await subscription_of_callback(self.db, callback_token)
        return found if found is not None and found.wanted is HubMode.SUBSCRIBE else None

    async def receive(
        self, subscription: HubSubscription, body: bytes, headers: Mapping[str, str], now: datetime
    ) -> PushVerdict:
        """Archives and queues the push, unless it is forged, repeated or one of too many."""
        secrets, signature = (subscription.secret, subscription.new_secret), headers.get(SIGNATURE_HEADER, "")
        if not await run_in_thread_if_large(len(body), is_signed, signature, body, secrets):
            log.warning("push_refused", feed_id=subscription.feed_id, hub=subscription.hub_url, bytes=len(body))
            return PushVerdict.IGNORED
        digest = await run_in_thread_if_large(len(body), _sha256, body)
        if await is_known_push(self.db, subscription.id, digest):
            return PushVerdict.IGNORED
        if await self._is_too_much(subscription, len(body), now):
            return PushVerdict.TOO_MANY
        await self._keep(subscription, body, digest, headers, now)
        return PushVerdict.ACCEPTED

    async def _is_too_much(self, subscription: HubSubscription, size: int, now: datetime) -> bool:
        if await count_recent_pushes(self.db, subscription.id, now - HOUR) >= MAX_PUSHES_PER_HOUR:
            return True
        return await count_recent_bytes(self.db, subscription.id, now - DAY) + size > MAX_BYTES_PER_DAY

    async def _keep(
        self, subscription: HubSubscription, body: bytes, digest: str, headers: Mapping[str, str], now: datetime
    ) -> None:
        key = pushed_body_key(subscription.feed_id, now, digest)
        await self.blobs.put(key, body, CONTENT_TYPE)
        kept = {name: headers[name][:LONGEST_HEADER] for name in KEPT_HEADERS if name in headers}
        content_type = kept.get("content-type", "")
        push = NewPush(digest, key, len(body), msgspec.json.encode(kept).decode(), content_type, now)
        await add_push(self.db, subscription.id, push)


def _sha256(body: bytes) -> str:
    return sha256(body).hexdigest()
