"""What makes jobs when time passes: claims the feeds that are due, and keeps their claims alive."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import structlog

from feedmill.engine.inprocess import InProcessEngine
from feedmill.engine.jobs import Job, Priority, RefreshFeed, ScanComplete
from feedmill.errors import DatabaseError
from feedmill.model.feed import Claim, Feed
from feedmill.run.handlers import Handlers
from feedmill.store.claims import claim_due, give_back, renew
from feedmill.store.database import Database

log = structlog.get_logger(__name__)

SCAN_EVERY = timedelta(seconds=30)
RENEW_EVERY = timedelta(seconds=60)
LOT = 200
# Claims that wait for their host's turn: enough to keep every other host busy meanwhile.
MOST_CLAIMED = 5000


@dataclass(slots=True)
class Scheduler:
    """Scans for due feeds. Two schedulers on one database are safe: the claims see to it."""

    db: Database
    engine: InProcessEngine
    handlers: Handlers
    lane_of: Callable[[Feed], str] = lambda feed: ""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    scan_every: timedelta = SCAN_EVERY
    lot: int = LOT
    _claimed: dict[str, int] = field(default_factory=dict)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.handlers.scan_complete = self._scan_complete

    async def run(self) -> None:
        """Scans for ever; cancel it to stop."""
        renewing = asyncio.create_task(self._keep_renewing())
        try:
            while True:
                full = await self._scan_safely()
                await self._sleep(timedelta(seconds=0.2) if full else self.scan_every)
        finally:
            renewing.cancel()

    def wake(self) -> None:
        """Scans at once, because something became due just now."""
        self._wake.set()

    async def scan(self) -> bool:
        """Claims what is due, in lots, until nothing is left or the engine has enough; True for the latter."""
        while self.engine.backlog < self.lot and sum(self._claimed.values()) < MOST_CLAIMED:
            if self.handlers.breaker.is_open(self.clock()):
                return False
            claims = await claim_due(self.db, self.clock(), self.lot)
            if not claims:
                return False
            await self._hand_over(claims)
        return True

    async def give_back(self, undone: list[Job]) -> None:
        """Lets go of the claims of jobs that will not be done here."""
        keys = [(job.feed_id, job.token) for job in undone if isinstance(job, RefreshFeed) and job.token]
        claims = [self.handlers.claims[key] for key in keys if key in self.handlers.claims]
        await give_back(self.db, claims)

    async def _scan_safely(self) -> bool:
        try:
            return await self.scan()
        except DatabaseError as error:
            log.error("the scan for due feeds failed; it is tried again", reason=str(error))
            return False

    async def _hand_over(self, claims: list[Claim]) -> None:
        token = claims[0].token
        self._claimed[token] = len(claims)
        self.handlers.claims.update({(claim.feed.id, token): claim for claim in claims})
        jobs = [RefreshFeed(claim.feed.id, token, lane=self.lane_of(claim.feed)) for claim in claims]
        await self.engine.run_batch(jobs, ScanComplete(token), Priority.SCHEDULED)

    def _scan_complete(self, token: str) -> None:
        self._claimed.pop(token, None)

    async def _keep_renewing(self) -> None:
        while True:
            await asyncio.sleep(RENEW_EVERY.total_seconds())
            for token in list(self._claimed):
                try:
                    await renew(self.db, token, self.clock())
                except DatabaseError as error:
                    log.error("claims could not be renewed", reason=str(error))

    async def _sleep(self, length: timedelta) -> None:
        self._wake.clear()
        try:
            async with asyncio.timeout(length.total_seconds()):
                await self._wake.wait()
        except TimeoutError:
            pass
