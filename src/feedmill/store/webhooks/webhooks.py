"""Adds, reads, changes and removes webhooks."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from feedmill.i18n.messages import message_or_none
from feedmill.model.timestamps import datetime_or_none, from_iso, to_iso
from feedmill.model.webhook import Webhook, WebhookEvent
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import webhooks

_of_owner = (webhooks.c.id == bindparam("webhook"), webhooks.c.user_id == bindparam("owner"))

ADD = insert(webhooks, "user_id", "url", "secret", "events", "created_at")
OF_USER = select(webhooks).where(webhooks.c.user_id == bindparam("owner")).order_by(webhooks.c.id)
ONE = select(webhooks).where(*_of_owner)
BY_SECRET = select(webhooks).where(webhooks.c.user_id == bindparam("owner"), webhooks.c.secret == bindparam("secret"))
ANY = select(webhooks.c.id).limit(1)
CHANGE = webhooks.update().where(*_of_owner).values({name: bindparam(name) for name in ("url", "events", "paused")})
# Resuming it clears its failures: its owner has repaired the receiver.
RESET_FAILURES = webhooks.update().where(*_of_owner).values(consecutive_failures=0, last_error=None)
SET_SECRET = webhooks.update().where(*_of_owner).values(secret=bindparam("new_secret"))
DROP = webhooks.delete().where(*_of_owner)


async def has_webhooks(db: Database) -> bool:
    """Whether there is any webhook at all."""
    return bool(await db.query(ANY))


async def add_webhook(
    db: Database, user_id: int, url: str, secret: str, events: Sequence[WebhookEvent], now: datetime
) -> Webhook:
    row = {"user_id": user_id, "url": url, "secret": secret, "events": _encoded(events), "created_at": to_iso(now)}
    await db.batch([Step(ADD, row)])
    [found] = await db.query(BY_SECRET, {"owner": user_id, "secret": secret})
    return _webhook(found)


async def webhooks_of(db: Database, user_id: int) -> list[Webhook]:
    return [_webhook(row) for row in await db.query(OF_USER, {"owner": user_id})]


async def webhook_of(db: Database, user_id: int, webhook_id: int) -> Webhook | None:
    """The user's webhook of that id; None also when it is somebody else's."""
    rows = await db.query(ONE, _key(user_id, webhook_id))
    return _webhook(rows[0]) if rows else None


async def save_webhook(db: Database, webhook: Webhook, *, forgiven: bool) -> None:
    """Saves a webhook as it is now; `forgiven` clears its failures."""
    key = _key(webhook.user_id, webhook.id)
    row = key | {"url": webhook.url, "events": _encoded(webhook.events), "paused": int(webhook.paused)}
    await db.batch([Step(CHANGE, row), *([Step(RESET_FAILURES, key)] if forgiven else [])])


async def set_webhook_secret(db: Database, user_id: int, webhook_id: int, secret: str) -> bool:
    return await db.batch([Step(SET_SECRET, _key(user_id, webhook_id) | {"new_secret": secret})]) == [1]


async def drop_webhook(db: Database, user_id: int, webhook_id: int) -> bool:
    """Deletes a webhook with its deliveries; False when the user has no such webhook."""
    return await db.batch([Step(DROP, _key(user_id, webhook_id))]) == [1]


def _key(user_id: int, webhook_id: int) -> dict[str, Any]:
    return {"owner": user_id, "webhook": webhook_id}


def _encoded(events: Sequence[WebhookEvent]) -> str:
    return msgspec.json.encode(list(events)).decode()


def _webhook(row: Row) -> Webhook:
    return Webhook(
        id=row["id"],
        user_id=row["user_id"],
        url=row["url"],
        secret=row["secret"],
        events=tuple(msgspec.json.decode(row["events"], type=list[WebhookEvent])),
        paused=bool(row["paused"]),
        consecutive_failures=row["consecutive_failures"],
        last_success_at=datetime_or_none(row["last_success_at"]),
        last_error=message_or_none(row["last_error"]),
        created_at=from_iso(row["created_at"]),
    )
