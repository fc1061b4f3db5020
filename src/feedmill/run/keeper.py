"""Keeps the claims that this process holds: alive while their jobs wait or run, and given back when they won't."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import structlog

from feedmill.engine.jobs import Job, RefreshFeed
from feedmill.errors import DatabaseError
from feedmill.model.feed import Claim, Feed
from feedmill.store.claims import give_back, read_claim, renew
from feedmill.store.database import Database

log = structlog.get_logger(__name__)

RENEW_EVERY = timedelta(seconds=60)


class ClaimKeeper:
    """Remembers claims between the moment they are taken and the end of their job."""

    def __init__(self, db: Database, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._db = db
        self._clock = clock
        self._waiting: dict[tuple[int, str], Claim] = {}
        self._held: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._held.total()

    def jobs_for(
        self, claims: Sequence[Claim], lane_of: Callable[[Feed], str], batch_id: int | None = None
    ) -> list[RefreshFeed]:
        """The jobs that refresh these feeds; their claims are kept until `done`."""
        for claim in claims:
            self._waiting[claim.feed.id, claim.token] = claim
            self._held[claim.token] += 1
        return [RefreshFeed(claim.feed.id, claim.token, batch_id, lane_of(claim.feed)) for claim in claims]

    async def take(self, feed_id: int, token: str) -> Claim | None:
        """The claim that a job came with; read from the database if another process took it."""
        return self._waiting.pop((feed_id, token), None) or await read_claim(self._db, feed_id, token)

    def done(self, job: RefreshFeed) -> None:
        """The job has ended, so its claim is no longer ours to keep."""
        if job.token is not None and self._held[job.token] > 0:
            self._held[job.token] -= 1
            self._held += Counter()

    async def give_back(self, undone: Sequence[Job]) -> None:
        """Lets go of the claims of jobs that will not be done here; their feeds are due as before."""
        jobs = [job for job in undone if isinstance(job, RefreshFeed) and job.token is not None]
        claims = [self._waiting.pop((job.feed_id, job.token), None) for job in jobs if job.token]
        await give_back(self._db, [claim for claim in claims if claim is not None])

    async def keep_renewing(self) -> None:
        """Renews every claim before its lease ends; cancel it to stop."""
        while True:
            await asyncio.sleep(RENEW_EVERY.total_seconds())
            await self.renew_all()

    async def renew_all(self) -> None:
        for token in list(self._held):
            try:
                await renew(self._db, token, self._clock())
            except DatabaseError as error:
                log.error("claims could not be renewed", reason=str(error))
