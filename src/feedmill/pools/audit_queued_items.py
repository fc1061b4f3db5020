"""Finds items that are queued and in no list although the list was not lost.

A filler that was killed leaves them, a program that was killed after its RPOP, or one that does not report what it
used. The filler's items become available again; items that another program may have taken are held back.
"""

from dataclasses import dataclass, field
from datetime import timedelta

from feedmill.coordination.pool_queues import FILL_LOCK_LENGTH
from feedmill.lazy_loggers import get_logger
from feedmill.model.pool import PoolKey
from feedmill.pools.lost_lists import is_shared
from feedmill.pools.pool import Pool
from feedmill.pools.pool_tools import PoolLists, PoolTools
from feedmill.store.pools.lists import read_list_record
from feedmill.store.pools.lost_items import count_queued, held_or_queued_before, hold_items, unqueue_items

log = get_logger(__name__)

# A filler that holds the lock may still push the items that it reserved.
MIN_QUEUED_AGE = 2 * FILL_LOCK_LENGTH


@dataclass(slots=True)
class QueuedItemAudit:
    """Compares the queued items with the lists. An item must be missing in two audits in a row."""

    tools: PoolTools
    lists: PoolLists
    min_age: timedelta = MIN_QUEUED_AGE
    _missing: dict[PoolKey, set[int]] = field(default_factory=dict)

    async def audit(self, pool: Pool) -> int:
        """Audits one pool; returns the number of items that were missing again."""
        missing = await self._find_missing(pool)
        again = missing & self._missing.get(pool.key, set())
        self._missing[pool.key] = missing - again
        if not again:
            return 0
        record, now = await read_list_record(self.tools.db, pool.key), self.tools.clock()
        hold = is_shared(self.tools, pool, record)
        changed = await (hold_items if hold else unqueue_items)(self.tools.db, sorted(again), now)
        log.warning("pool_items_missing", pool=str(pool), available=changed * (not hold), held=changed * hold)
        return changed

    async def _find_missing(self, pool: Pool) -> set[int]:
        db, queues = self.tools.db, self.lists.queues
        if await count_queued(db, pool.key) <= await queues.length(pool.list_name):
            return set()
        found = await held_or_queued_before(db, pool.key, self.tools.clock() - self.min_age)
        return {item.id for item in found if not item.is_held} - await queues.queued_ids(pool.list_name)
