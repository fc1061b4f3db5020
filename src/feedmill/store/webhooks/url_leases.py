"""Leases on webhook URLs: one process at a time delivers to a URL.

Two webhooks with the same URL share a lease. It ends by itself, as the leases of the deliveries do.
"""

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from secrets import token_hex

from sqlalchemy import Integer, bindparam, func, or_, select

from feedmill.model.timestamps import to_iso
from feedmill.model.webhook import DeliveryStatus, WebhookEvent
from feedmill.store.database import Database
from feedmill.store.leases import LEASE
from feedmill.store.locks import acquire_all, held_locks, release_all
from feedmill.store.schema import deliveries, webhooks

_first = func.min(deliveries.c.next_attempt_at)
DUE = (
    select(webhooks.c.id, webhooks.c.url)
    .join(deliveries, deliveries.c.webhook_id == webhooks.c.id)
    .where(
        deliveries.c.status == DeliveryStatus.PENDING,
        deliveries.c.next_attempt_at <= bindparam("now"),
        or_(webhooks.c.paused == 0, deliveries.c.event == WebhookEvent.TEST),
    )
    .group_by(webhooks.c.id, webhooks.c.url)
    .order_by(_first, webhooks.c.id)
    .limit(bindparam("most", type_=Integer))
)


@dataclass(frozen=True, slots=True)
class LeasedUrls:
    """The leased URLs, as names of locks, and the webhooks with these URLs."""

    token: str
    names: tuple[str, ...]
    webhook_ids: tuple[int, ...]


async def lease_due_urls(db: Database, now: datetime, most_webhooks: int, most: int) -> LeasedUrls:
    """Leases up to `most` URLs that have due deliveries and that no other process delivers to.

    Looks at `most_webhooks` webhooks, those that wait longest first.
    """
    due = await db.query(DUE, {"now": to_iso(now), "most": most_webhooks})
    names = {row["id"]: _lock_name(row["url"]) for row in due}
    busy = await held_locks(db, list(names.values()), now, LEASE) if names else set()
    free = [name for name in dict.fromkeys(names.values()) if name not in busy][:most]
    token = token_hex(16)
    acquired = await acquire_all(db, free, token, now, LEASE) if free else set()
    return LeasedUrls(token, tuple(sorted(acquired)), tuple(id for id, name in names.items() if name in acquired))


async def release_urls(db: Database, held: LeasedUrls) -> None:
    await release_all(db, held.names, held.token)


def _lock_name(url: str) -> str:
    return f"webhook:{sha256(url.encode()).hexdigest()}"
