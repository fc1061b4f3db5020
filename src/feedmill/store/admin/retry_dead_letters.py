"""Retries all webhook deliveries or image downloads that were given up."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from sqlalchemy import Update

from feedmill.model.timestamps import to_iso
from feedmill.model.user import Actor
from feedmill.store.admin.audit_log import step_to_audit
from feedmill.store.archive.feed_images import RETRY_ALL_FAILED
from feedmill.store.database import Database, Step
from feedmill.store.webhooks.deliveries import RETRY_ALL_DEAD

DeadLetterKind = Literal["deliveries", "images"]
RETRY_STATEMENTS: Mapping[DeadLetterKind, Update] = {"deliveries": RETRY_ALL_DEAD, "images": RETRY_ALL_FAILED}


async def retry_all_dead_letters(db: Database, what: DeadLetterKind, by: Actor, now: datetime) -> int:
    """Makes all of them due and resets their attempts; how many there were."""
    steps = [Step(RETRY_STATEMENTS[what], {"at": to_iso(now)}), step_to_audit(by, "queue.retry", what, now)]
    return (await db.batch(steps))[0]
