"""Scans for due feeds, claims them and hands them to the engine."""

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
CLAIMS_PER_LOT = 200
# Claims that wait for their host's turn: enough to keep every other host busy meanwhile.
MAX_CLAIMED = 5000
# More feeds than this of one host are put off, one host gap apart, so that others get their turn.
MAX_IN_LANE = 100


@dataclass(slots=True)
class Scheduler:
    """Scans for due feeds. Two schedulers on one database are safe: the claims see to it."""

    db: Database
    engine: ScanEngine
    handlers: JobHandlers
    lane_of: Callable[[Feed], str] = lambda feed: ""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    lane_gap: timedelta = timedelta(seconds=1)
    scan_every: timedelta = SCAN_EVERY
    lot: int = CLAIMS_PER_LOT
    claim: Callable[[Database, datetime, int], Awaitable[list[Claim]]] = claim_due_feeds
    before_scan: Sequence[Callable[[], Awaitable[None]]] = ()
    # Until when each crowded host has its time taken.
    _slots: dict[str, datetime] = field(default_factory=dict)

    async def run(self) -> None:
        """Scans for ever; cancel it to stop."""
        while True:
            full = await self._scan_safely()
            await asyncio.sleep((BUSY_WAIT if full else self.scan_every).total_seconds())

    async def prepare(self) -> None:
        """What has to be looked at before it is said what is due."""
        for step in self.before_scan:
            await step()

    async def drain(self) -> None:
        """Works off everything that is due now, then ends."""
        await self.prepare()
        while True:
            is_full = await self.scan()
            if not is_full and not len(self.handlers.keeper):
                return
            await asyncio.sleep(DRAIN_EVERY)

    async def scan(self) -> bool:
        """Claims what is due, in lots, until nothing is left or the engine has enough; True for the latter."""
        self._slots = {lane: at for lane, at in self._slots.items() if at > self.clock()}
        while self.engine.backlog < self.lot and len(self.handlers.keeper) < MAX_CLAIMED:
            if self.handlers.breaker.is_open(self.clock()):
                return False
            claims = await self.claim(self.db, self.clock(), self.lot)
            if not claims:
                return False
            await self._hand_over(claims)
        return True

    async def _scan_safely(self) -> bool:
        try:
            await self.prepare()
            is_full = await self.scan()
            DEPENDENCY_OUTAGES.worked(SCAN_DUE_FEEDS)
            return is_full
        except DatabaseError as error:
            DEPENDENCY_OUTAGES.failed(SCAN_DUE_FEEDS, error)
        except Exception:  # Whatever it is, feeds must not stop being refreshed because of it.
            log.exception("task_crashed", task=SCAN_DUE_FEEDS)
        return False

    async def _hand_over(self, claims: list[Claim]) -> None:
        places = Counter[str]()
        now: list[Claim] = []
        later: list[Claim] = []
        for claim in claims:
            lane = self.lane_of(claim.feed)
            places[lane] += 1
            is_crowded = lane and self.engine.in_lane(lane) + places[lane] > MAX_IN_LANE
            (later if is_crowded else now).append(claim)
        await self._put_off(later)
        jobs = self.handlers.keeper.jobs_for(now, self.lane_of)
        await self.engine.run_batch(jobs, ScanComplete(claims[0].token), Priority.SCHEDULED)

    async def _put_off(self, claims: list[Claim]) -> None:
        """Spreads the feeds of a crowded host over the time that they need anyway."""
        why = "many feeds of its host are due at once, and it waits for its turn"
        await postpone_feeds(self.db, [(claim, Schedule(self._next_slot(claim.feed), why)) for claim in claims])

    def _next_slot(self, feed: Feed) -> datetime:
        lane, first = self.lane_of(feed), self.clock() + MAX_IN_LANE * self.lane_gap
        slot = self._slots[lane] = max(first, self._slots.get(lane, first) + self.lane_gap)
        return slot
