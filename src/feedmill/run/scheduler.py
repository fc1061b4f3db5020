"""Scans for due feeds, claims them and submits them to the engine."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.engine.engine import ScanEngine
from feedmill.engine.jobs import Priority, ScanComplete
from feedmill.engine.task_names import SCAN_DUE_FEEDS
from feedmill.errors import DatabaseError
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.model.feed import Claim, Feed
from feedmill.model.refresh import Schedule
from feedmill.run.job_handlers import JobHandlers
from feedmill.store.database import Database
from feedmill.store.feeds.claims import claim_due_feeds
from feedmill.store.feeds.record_refresh import postpone_feeds

log = get_logger(__name__)

SCAN_EVERY = timedelta(seconds=30)
DRAIN_EVERY = 0.1
BUSY_WAIT = timedelta(seconds=0.2)
CLAIMS_PER_CHUNK = 200
# Claims that may wait for their host: enough to keep the other hosts busy in the meantime.
MAX_CLAIMED = 5000
# Feeds of one host beyond this number are postponed, one host gap apart, so that other hosts get their turn.
MAX_IN_LANE = 100


@dataclass(slots=True)
class Scheduler:
    """Scans for due feeds. Claims make it safe to run two schedulers on one database."""

    db: Database
    engine: ScanEngine
    handlers: JobHandlers
    lane_of: Callable[[Feed], str] = lambda feed: ""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    lane_gap: timedelta = timedelta(seconds=1)
    scan_every: timedelta = SCAN_EVERY
    chunk_size: int = CLAIMS_PER_CHUNK
    claim: Callable[[Database, datetime, int], Awaitable[list[Claim]]] = claim_due_feeds
    before_scan: Sequence[Callable[[], Awaitable[None]]] = ()
    # The last slot given to a feed of each crowded host.
    _slots: dict[str, datetime] = field(default_factory=dict)

    async def run(self) -> None:
        """Scans periodically; cancel it to stop."""
        while True:
            full = await self._scan_safely()
            await asyncio.sleep((BUSY_WAIT if full else self.scan_every).total_seconds())

    async def prepare(self) -> None:
        """Runs the steps that come before a scan, such as reading the feeds file."""
        for step in self.before_scan:
            await step()

    async def drain(self) -> None:
        """Refreshes everything that is due now, then ends."""
        await self.prepare()
        while True:
            is_full = await self.scan()
            if not is_full and not len(self.handlers.held_claims):
                return
            await asyncio.sleep(DRAIN_EVERY)

    async def scan(self) -> bool:
        """Claims due feeds in chunks; True if it stopped because the engine is full, False if no feed is left."""
        self._slots = {lane: at for lane, at in self._slots.items() if at > self.clock()}
        while self.engine.backlog < self.chunk_size and len(self.handlers.held_claims) < MAX_CLAIMED:
            if self.handlers.breaker.is_open(self.clock()):
                return False
            claims = await self.claim(self.db, self.clock(), self.chunk_size)
            if not claims:
                return False
            await self._submit(claims)
        return True

    async def _scan_safely(self) -> bool:
        try:
            await self.prepare()
            is_full = await self.scan()
            DEPENDENCY_OUTAGES.worked(SCAN_DUE_FEEDS)
            return is_full
        except DatabaseError as error:
            DEPENDENCY_OUTAGES.failed(SCAN_DUE_FEEDS, error)
        except Exception:  # Feeds must be refreshed whatever happens.
            log.exception("task_crashed", task=SCAN_DUE_FEEDS)
        return False

    async def _submit(self, claims: list[Claim]) -> None:
        lane_counts = Counter[str]()
        ready: list[Claim] = []
        excess: list[Claim] = []
        for claim in claims:
            lane = self.lane_of(claim.feed)
            lane_counts[lane] += 1
            is_crowded = lane and self.engine.in_lane(lane) + lane_counts[lane] > MAX_IN_LANE
            (excess if is_crowded else ready).append(claim)
        await self._postpone(excess)
        jobs = self.handlers.held_claims.jobs_for(ready, self.lane_of)
        await self.engine.run_batch(jobs, ScanComplete(claims[0].token), Priority.SCHEDULED)

    async def _postpone(self, claims: list[Claim]) -> None:
        """Postpones the feeds of a crowded host, one host gap apart."""
        why = Message("schedule.crowded_host")
        await postpone_feeds(self.db, [(claim, Schedule(self._next_slot(claim.feed), why)) for claim in claims])

    def _next_slot(self, feed: Feed) -> datetime:
        lane, first = self.lane_of(feed), self.clock() + MAX_IN_LANE * self.lane_gap
        slot = self._slots[lane] = max(first, self._slots.get(lane, first) + self.lane_gap)
        return slot
