"""Holds the claims of this process: renews them while their jobs wait or run, and releases them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from feedmill.engine.jobs import Job, RefreshFeed
from feedmill.engine.run_periodically import run_periodically
from feedmill.errors import DatabaseError
from feedmill.model.feed import Claim, Feed
from feedmill.store.database import Database
from feedmill.store.feeds.claims import release_claims, renew_claims, take_over_claims
from feedmill.store.jobs.batches import step_to_record_heartbeat

RENEW_EVERY = timedelta(seconds=60)
# A job that starts later than this runs only if nobody else has claimed its feed in the meantime.
MAX_WAIT = timedelta(minutes=30)


@dataclass(slots=True)
class ClaimGroup:
    """Claims that were taken together, by feed id: those whose job waits, and those whose job runs."""

    since: float
    taken_at: datetime
    batch_id: int | None
    waiting: dict[int, Claim]
    running: set[int] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.waiting) + len(self.running)

    def feed_ids(self) -> list[int]:
        return [*self.waiting, *self.running]


def refresh_jobs_of(claims: Sequence[Claim], lane_of: Callable[[Feed], str], batch_id: int | None) -> list[RefreshFeed]:
    """The jobs that refresh these feeds."""
    return [RefreshFeed(claim.feed.id, claim.token, batch_id, lane_of(claim.feed)) for claim in claims]


class HeldClaims:
    """Holds claims from the moment they are taken until their job ends."""

    def __init__(self, db: Database, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._db = db
        self._clock = clock
        self._groups: dict[str, ClaimGroup] = {}

    def __len__(self) -> int:
        return sum(map(len, self._groups.values()))

    def jobs_for(
        self, claims: Sequence[Claim], lane_of: Callable[[Feed], str], batch_id: int | None = None
    ) -> list[RefreshFeed]:
        """The jobs that refresh these feeds; their claims, all of one token, are kept until `done`."""
        if claims:
            by_feed = {claim.feed.id: claim for claim in claims}
            self._groups[claims[0].token] = ClaimGroup(time.monotonic(), self._clock(), batch_id, by_feed)
        return refresh_jobs_of(claims, lane_of, batch_id)

    async def take(self, feed_id: int, token: str) -> Claim | None:
        """The claim of a job, for one job only; taken over if another process took it."""
        group = self._groups.get(token)
        if group is None:
            claims = await take_over_claims(self._db, [feed_id], token, self._clock())
            return claims[0] if claims else None
        claim = group.waiting.pop(feed_id, None)
        if claim is not None:
            group.running.add(feed_id)
        return claim

    def taken_at(self, token: str) -> datetime | None:
        """When this process took the claims with this token."""
        return self._groups[token].taken_at if token in self._groups else None

    def running(self) -> tuple[int, ...]:
        """The ids of feeds whose jobs run in this process."""
        return tuple(sorted(feed_id for group in self._groups.values() for feed_id in group.running))

    def is_running(self, feed_id: int, token: str) -> bool:
        """Whether another job with the same claim runs in this process."""
        return token in self._groups and feed_id in self._groups[token].running

    def done(self, feed_id: int, token: str) -> None:
        """Forgets the claim of a job that has ended."""
        group = self._groups.get(token)
        if group is not None:
            group.running.discard(feed_id)
            self._forget_if_empty(token)

    async def release(self, undone: Sequence[Job]) -> None:
        """Releases the claims of jobs that will not be done here; their feeds stay due."""
        jobs = [job for job in undone if isinstance(job, RefreshFeed) and job.token in self._groups]
        claims = [self._groups[job.token].waiting.pop(job.feed_id, None) for job in jobs if job.token]
        for token in list(self._groups):
            self._forget_if_empty(token)
        await release_claims(self._db, [claim for claim in claims if claim is not None])

    async def keep_renewing(self) -> None:
        """Renews every claim before its lease ends; cancel it to stop."""
        await run_periodically("renew_claims", self.renew_all, RENEW_EVERY)

    async def renew_all(self) -> None:
        """Renews all claims, and the heartbeats of their batches, except claims so old that their jobs must be lost.

        Raises the last failure after all have been tried.
        """
        failure: DatabaseError | None = None
        oldest = time.monotonic() - MAX_WAIT.total_seconds()
        self._groups = {token: group for token, group in self._groups.items() if group.since > oldest}
        for token, group in list(self._groups.items()):
            try:
                await renew_claims(self._db, token, group.feed_ids(), self._clock())
                if group.batch_id is not None:
                    await self._db.batch([step_to_record_heartbeat(group.batch_id, self._clock())])
            except DatabaseError as error:
                failure = error
        if failure is not None:
            raise failure

    def _forget_if_empty(self, token: str) -> None:
        if not self._groups[token]:
            del self._groups[token]
