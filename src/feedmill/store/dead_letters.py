"""What was given up after its last attempt, and is tried again because an admin says so."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from sqlalchemy import Update

from feedmill.model.account import Actor
from feedmill.model.times import to_text
from feedmill.store.audit import write_down
from feedmill.store.database import Database, Step
from feedmill.store.delivery_log import ALL_DEAD_AGAIN
from feedmill.store.kept_images import ALL_FAILED_AGAIN

Letters = Literal["deliveries", "images"]
AGAIN: Mapping[Letters, Update] = {"deliveries": ALL_DEAD_AGAIN, "images": ALL_FAILED_AGAIN}


async def retry(db: Database, what: Letters, by: Actor, now: datetime) -> int:
    """Makes all of them due, with their attempts forgotten; how many there were."""
    steps = [Step(AGAIN[what], {"at": to_text(now)}), write_down(by, "queue.retry", what, now)]
    return (await db.batch(steps))[0]
