"""What a job does: from its ids to the flow that it stands for."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from feedmill.collect.refresh import Tools, refresh_feed
from feedmill.engine.jobs import BatchComplete, Job, RefreshFeed, ScanComplete
from feedmill.errors import InfrastructureError
from feedmill.model.feed import Claim, Feed
from feedmill.model.refresh import Decision, Failed, Postponed, Unchanged, Updated
from feedmill.run.breaker import Breaker
from feedmill.store.batches import JobOutcome, end_job, finish_batch, is_left
from feedmill.store.claims import claim_feeds, give_back, read_claim
from feedmill.store.database import Step
from feedmill.store.feeds import feeds_of_ids
from feedmill.store.refreshes import ClaimLost

log = structlog.get_logger(__name__)

REFRESH_GAP = timedelta(seconds=30)


@dataclass(slots=True)
class Handlers:
    """Runs jobs. `claims` remembers what the scan of this process claimed, which saves reading it again."""

    tools: Tools
    refresh_gap: timedelta = REFRESH_GAP
    breaker: Breaker = field(default_factory=Breaker)
    claims: dict[tuple[int, str], Claim] = field(default_factory=dict)
    scan_complete: Callable[[str], None] = lambda token: None

    async def __call__(self, job: Job) -> None:
        match job:
            case RefreshFeed():
                await self._refresh(job)
            case BatchComplete():
                await finish_batch(self.tools.db, job.batch_id, self.tools.clock())
            case ScanComplete():
                self.scan_complete(job.token)

    async def _refresh(self, job: RefreshFeed) -> None:
        claim = await self._claim(job)
        if isinstance(claim, JobOutcome):
            await self._end(job, claim)
            return
        try:
            await refresh_feed(self.tools, claim, lambda decision: self._ending(job, decision))
            self.breaker.worked()
        except ClaimLost as error:
            await self._end(job, JobOutcome(job.feed_id, "skipped", message=str(error)))
        except InfrastructureError as error:
            self.breaker.failed(self.tools.clock())
            log.error("a refresh stopped because of our own storage", feed_id=job.feed_id, exc_info=error)
            await self._end(job, JobOutcome(job.feed_id, "failed", message=f"our own storage failed: {error}"))
        except asyncio.CancelledError:
            await asyncio.shield(give_back(self.tools.db, [claim]))
            raise

    async def _claim(self, job: RefreshFeed) -> Claim | JobOutcome:
        """The claim that the job came with, or a fresh one; or why there is none."""
        if job.batch_id is not None and not await is_left(self.tools.db, job.batch_id, job.feed_id):
            return JobOutcome(job.feed_id, "cancelled")
        if job.token is not None:
            known = self.claims.pop((job.feed_id, job.token), None)
            claim = known or await read_claim(self.tools.db, job.feed_id, job.token)
            return claim or JobOutcome(job.feed_id, "skipped", message="somebody else refreshes it")
        found = await feeds_of_ids(self.tools.db, [job.feed_id])
        if not found:
            return JobOutcome(job.feed_id, "skipped", message="feed_deleted")
        if reason := self.too_soon(found[0]):
            return JobOutcome(job.feed_id, "skipped", message=reason)
        claims = await claim_feeds(self.tools.db, [job.feed_id], self.tools.clock())
        return claims[0] if claims else JobOutcome(job.feed_id, "skipped", message="already_running")

    def too_soon(self, feed: Feed) -> str | None:
        """Why this feed is not fetched again yet, if so."""
        if feed.last_fetched_at is None or feed.consecutive_failures:
            return None
        age = self.tools.clock() - feed.last_fetched_at
        return f"fetched {age.total_seconds():.0f} s ago" if timedelta() <= age < self.refresh_gap else None

    def _ending(self, job: RefreshFeed, decision: Decision) -> Sequence[Step]:
        """What a batch wants to know, written together with the refresh itself."""
        if job.batch_id is None:
            return ()
        return [end_job(job.batch_id, outcome_of(job.feed_id, decision), self.tools.clock())]

    async def _end(self, job: RefreshFeed, outcome: JobOutcome) -> None:
        log.info("a feed was not refreshed", feed_id=job.feed_id, reason=outcome.message)
        if job.batch_id is not None:
            await self.tools.db.batch([end_job(job.batch_id, outcome, self.tools.clock())])


def outcome_of(feed_id: int, decision: Decision) -> JobOutcome:
    """A decision in the words of a batch."""
    match decision:
        case Updated(visit=visit, changes=changes):
            return JobOutcome(feed_id, "updated", len(changes.new), _ms(visit.elapsed))
        case Unchanged(visit=visit):
            return JobOutcome(feed_id, "unchanged", 0, _ms(visit.elapsed))
        case Failed(visit=visit, message=message):
            return JobOutcome(feed_id, "failed", 0, _ms(visit.elapsed), message)
        case Postponed(schedule=schedule):
            return JobOutcome(feed_id, "postponed", message=schedule.why)


def _ms(length: timedelta) -> int:
    return round(length.total_seconds() * 1000)
