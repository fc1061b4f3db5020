"""Which batches still want their jobs done."""

import asyncio
import time
from typing import NamedTuple

from feedmill.store.batches import is_running
from feedmill.store.database import Database

# A cancelled batch may begin jobs for so long; a thousand jobs a second need not each ask.
LOOK_EVERY = 0.2


class Look(NamedTuple):
    """A question to the database and when it was asked; all jobs that begin meanwhile wait for the same answer."""

    at: float
    answer: asyncio.Future[bool]


class Wanted:
    """Asks a few times a second, however many jobs begin."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._looks: dict[int, Look] = {}

    async def by(self, batch_id: int) -> bool:
        """Whether the batch runs: it was not cancelled, and it is not over."""
        now = time.monotonic()
        if batch_id not in self._looks or self._looks[batch_id].at + LOOK_EVERY <= now:
            self._looks = {id: look for id, look in self._looks.items() if look.at + LOOK_EVERY > now}
            self._looks[batch_id] = Look(now, asyncio.ensure_future(is_running(self._db, batch_id)))
        return await asyncio.shield(self._looks[batch_id].answer)
