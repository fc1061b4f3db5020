"""What a job does: from its ids to the flow that it stands for."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from feedmill.collect.refresh import Tools, refresh_feed
from feedmill.engine.jobs import ArchiveImages, BatchComplete, Job, RefreshFeed, ScanComplete
from feedmill.errors import ConstraintViolated, InfrastructureError, StatementRefused
from feedmill.model.feed import Claim, Feed
from feedmill.model.refresh import Decision, Failed, Postponed, Schedule, Unchanged, Updated
from feedmill.run.breaker import Breaker
from feedmill.run.images import ImageWork
from feedmill.run.keeper import ClaimKeeper
from feedmill.run.wanted import Wanted
from feedmill.store.batches import JobOutcome, end_job, finish_batch, hear_batch
from feedmill.store.claims import claim_feeds, give_back, why_unclaimed
from feedmill.store.database import Step
from feedmill.store.refreshes import ClaimLost, record

log = structlog.get_logger(__name__)

REFRESH_GAP = timedelta(seconds=30)
# What a refresh may take beyond its fetch; the engine's hard limit comes after it.
TIME_TO_STORE = timedelta(seconds=20)
# A feed whose answer we could not keep is not asked more often than a healthy one.
STORAGE_PAUSE = timedelta(minutes=15)


async def nobody() -> None:
    """For those who run without images."""


@dataclass(slots=True)
class Handlers:
    """Runs jobs. `nudge_images` has the images that wait worked off soon."""

    tools: Tools
    keeper: ClaimKeeper
    wanted: Wanted
    refresh_gap: timedelta = REFRESH_GAP
    breaker: Breaker = field(default_factory=Breaker)
    images: ImageWork | None = None
    nudge_images: Callable[[], Awaitable[None]] = nobody

    async def __call__(self, job: Job) -> JobOutcome | None:
        """What came of a feed; None for other jobs, and when the job left no trace."""
        match job:
            case RefreshFeed():
                return await self._refresh_safely(job)
            case BatchComplete():
                await finish_batch(self.tools.db, job.batch_id, self.tools.clock())
                await self.nudge_images()
            case ScanComplete():
                await self.nudge_images()
            case ArchiveImages():
                await self._archive_images()
        return None

    async def _archive_images(self) -> None:
        if self.images is not None and await self.images.work_off():
            await self.nudge_images()

    async def _refresh_safely(self, job: RefreshFeed) -> JobOutcome | None:
        if job.token is not None and self.keeper.is_under_way(job.feed_id, job.token):
            return JobOutcome(job.feed_id, "skipped", message="already_running")  # the first says what comes of it
        try:
            claim = await self._claim(job)
            return await (self._end(job, claim) if isinstance(claim, JobOutcome) else self._refresh(job, claim))
        except InfrastructureError as error:
            log.warning("a job left no trace; a claim that it had ends by itself", job=job, reason=str(error))
            return None
        finally:
            if job.token is not None:
                self.keeper.done(job.feed_id, job.token)

    async def _refresh(self, job: RefreshFeed, claim: Claim) -> JobOutcome:
        try:
            async with asyncio.timeout((self.tools.soft_limit + TIME_TO_STORE).total_seconds()):
                decision = await refresh_feed(
                    self.tools, claim, lambda decision: self._ending(job, outcome_of(job.feed_id, decision))
                )
            self.breaker.worked()
            if job.token is None:  # else it is one of many, and the last of them sees to the images of all
                await self.nudge_images()
            return outcome_of(job.feed_id, decision)
        except ClaimLost:
            return await self._end(job, await self._lost(job))
        except asyncio.CancelledError:
            await asyncio.shield(give_back(self.tools.db, [claim]))
            raise
        except TimeoutError:
            return await self._blame_ourselves(job, claim, InfrastructureError("it took too long to store"))
        except Exception as error:  # A mistake of ours must not have the feed asked again and again.
            return await self._blame_ourselves(job, claim, error)

    async def _blame_ourselves(self, job: RefreshFeed, claim: Claim, error: Exception) -> JobOutcome:
        """Leaves no trace of the refresh but when it is tried again, if that much can still be written."""
        log.error("a refresh stopped because of a failure of ours", feed_id=job.feed_id, exc_info=error)
        now, why = self.tools.clock(), f"a failure of our own: {str(error) or type(error).__name__}"
        if isinstance(error, InfrastructureError) and not isinstance(error, ConstraintViolated | StatementRefused):
            self.breaker.failed(now)
        at = now + STORAGE_PAUSE if claim.feed.next_fetch_at else None
        outcome = JobOutcome(job.feed_id, "failed", message=why)
        await record(self.tools.db, claim, Postponed(Schedule(at, why)), self._ending(job, outcome))
        return outcome

    async def _claim(self, job: RefreshFeed) -> Claim | JobOutcome:
        """The claim that the job came with, or a fresh one; or why there is none."""
        if job.token is not None:
            claim = await self.keeper.take(job.feed_id, job.token)
            if claim is None:
                return await self._lost(job)
            if self.breaker.is_open(self.tools.clock()):
                return await self._let_go(claim, JobOutcome(job.feed_id, "failed", message="our own storage fails"))
            if job.batch_id is not None and not await self.wanted.by(job.batch_id):
                return await self._let_go(claim, JobOutcome(job.feed_id, "cancelled"))
            return claim
        claims = await claim_feeds(self.tools.db, [job.feed_id], self.tools.clock())
        if not claims:
            return await self._lost(job)
        if reason := self.too_soon(claims[0].feed):
            return await self._let_go(claims[0], JobOutcome(job.feed_id, "skipped", message=reason))
        return claims[0]

    async def _lost(self, job: RefreshFeed) -> JobOutcome:
        """Why the feed can't be claimed: somebody else has it, or there is no such feed any more."""
        why = await why_unclaimed(self.tools.db, [job.feed_id])
        return JobOutcome(job.feed_id, "skipped", message=why[job.feed_id])

    async def _let_go(self, claim: Claim, outcome: JobOutcome) -> JobOutcome:
        await give_back(self.tools.db, [claim])
        return outcome

    def too_soon(self, feed: Feed) -> str | None:
        """Why this feed is not fetched again yet, if so."""
        if feed.last_fetched_at is None or feed.consecutive_failures:
            return None
        age = self.tools.clock() - feed.last_fetched_at
        return f"fetched {age.total_seconds():.0f} s ago" if timedelta() <= age < self.refresh_gap else None

    async def _end(self, job: RefreshFeed, outcome: JobOutcome) -> JobOutcome:
        log.info("a feed was not refreshed", feed_id=job.feed_id, reason=outcome.message)
        if steps := self._ending(job, outcome):
            await self.tools.db.batch(steps)
        return outcome

    def _ending(self, job: RefreshFeed, outcome: JobOutcome) -> list[Step]:
        """What a batch wants to know, written together with the refresh itself."""
        if job.batch_id is None:
            return []
        now = self.tools.clock()
        return [end_job(job.batch_id, outcome, now), hear_batch(job.batch_id, now)]


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
