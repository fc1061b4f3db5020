"""Runs jobs: refreshes a feed, finishes a batch, archives images."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from feedmill.collect.refresh import RefreshTools, refresh_feed
from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.encryption import UnreadableSecret
from feedmill.engine.jobs import ArchiveImages, BatchComplete, Job, RefreshFeed, ScanComplete
from feedmill.errors import ConstraintViolated, FeedmillError, InfrastructureError, StatementRefused
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.model.batch import JobOutcome
from feedmill.model.feed import Claim, Feed
from feedmill.model.refresh import Failed, Postponed, RefreshDecision, Schedule, Unchanged, Updated
from feedmill.run.batch_running_check import BatchRunningCheck
from feedmill.run.held_claims import HeldClaims
from feedmill.run.image_worker import ImageWorker
from feedmill.run.storage_circuit_breaker import StorageCircuitBreaker
from feedmill.store.database import Step
from feedmill.store.feeds.claims import ALREADY_RUNNING, claim_feeds, release_claims, why_unclaimed
from feedmill.store.feeds.record_refresh import ClaimLost, record_refresh
from feedmill.store.jobs.batches import finish_batch, step_to_end_job, step_to_record_heartbeat

log = get_logger(__name__)

REFRESH_GAP = timedelta(seconds=30)
# The time that a refresh may take after its fetch; the engine's hard limit is later.
TIME_TO_STORE = timedelta(seconds=20)
# A feed whose refresh crashes is not fetched more often than a healthy one.
CRASH_PAUSE = timedelta(minutes=15)
# Failures of ours that concern one feed only: the others are fetched as usual.
SINGLE_FEED_ERRORS = (ConstraintViolated, StatementRefused, UnreadableSecret)
# A refresh that could not be stored is retried soon; the circuit breaker limits the retries.
OUTAGE_PAUSE = timedelta(minutes=1)
REFRESH_TASK = "refresh_feeds"
STORAGE_UNAVAILABLE = Message("job.storage_unavailable")


async def no_images() -> None:
    """The default for `nudge_images`: does nothing."""


@dataclass(slots=True)
class JobHandlers:
    """Runs jobs. `nudge_images` starts the archiving of waiting images."""

    tools: RefreshTools
    held_claims: HeldClaims
    batches: BatchRunningCheck
    refresh_gap: timedelta = REFRESH_GAP
    breaker: StorageCircuitBreaker = field(default_factory=StorageCircuitBreaker)
    images: ImageWorker | None = None
    nudge_images: Callable[[], Awaitable[None]] = no_images

    async def __call__(self, job: Job) -> JobOutcome | None:
        """Runs a job and returns the outcome of its feed; None for other jobs, and when nothing was recorded."""
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
        if self.images is not None and await self.images.archive_waiting():
            await self.nudge_images()

    async def _refresh_safely(self, job: RefreshFeed) -> JobOutcome | None:
        if job.token is not None and self.held_claims.is_running(job.feed_id, job.token):
            return JobOutcome(job.feed_id, "skipped", message=ALREADY_RUNNING)  # the first job reports the outcome
        try:
            claim = await self._claim(job)
            return await (self._end(job, claim) if isinstance(claim, JobOutcome) else self._attempt(job, claim))
        except InfrastructureError as error:
            DEPENDENCY_OUTAGES.failed(REFRESH_TASK, error)
            log.debug("refresh_abandoned", feed_id=job.feed_id, reason=str(error))
            return None
        finally:
            if job.token is not None:
                self.held_claims.done(job.feed_id, job.token)

    async def _attempt(self, job: RefreshFeed, claim: Claim) -> JobOutcome:
        """Refreshes the feed, unless our storage is failing."""
        async with self.breaker.attempt(self.tools.clock(), self._requested_at(job)) as may_start:
            if may_start:
                return await self._refresh(job, claim)
        outcome = JobOutcome(job.feed_id, "failed", message=STORAGE_UNAVAILABLE)
        if not _is_requested(job):
            return await self._release(claim, outcome)
        await self._retry_later(job, claim, outcome, STORAGE_UNAVAILABLE, OUTAGE_PAUSE)
        return outcome

    async def _refresh(self, job: RefreshFeed, claim: Claim) -> JobOutcome:
        try:
            async with asyncio.timeout((self.tools.soft_limit + TIME_TO_STORE).total_seconds()):
                decision = await refresh_feed(self.tools, claim, partial(self._job_writes, job))
            self._storage_worked(decision)
            if job.token is None:  # else it belongs to a batch, whose callback starts the images of all
                await self.nudge_images()
            return job_outcome_of(job.feed_id, decision)
        except ClaimLost:
            return await self._end(job, await self._unclaimed(job))
        except asyncio.CancelledError:
            await asyncio.shield(release_claims(self.tools.db, [claim]))
            raise
        except TimeoutError:
            timed_out = InfrastructureError(Message("job.storing_timed_out"))
            return await self._record_own_failure(job, claim, timed_out)
        except Exception as error:  # A bug of ours must not make us fetch the feed again and again.
            return await self._record_own_failure(job, claim, error)

    async def _record_own_failure(self, job: RefreshFeed, claim: Claim, error: Exception) -> JobOutcome:
        """Records nothing of the refresh but the time of the retry, if that can be written."""
        reason = Message("job.own_failure", reason=_reason(error))
        outcome = JobOutcome(job.feed_id, "failed", message=reason)
        if isinstance(error, InfrastructureError) and not isinstance(error, SINGLE_FEED_ERRORS):
            DEPENDENCY_OUTAGES.failed(REFRESH_TASK, error)
            self.breaker.failed(self.tools.clock(), error)
            await self._retry_later(job, claim, outcome, reason, OUTAGE_PAUSE)
        else:
            # The message tells why a login can't be decrypted; a traceback would add nothing.
            trace = None if isinstance(error, UnreadableSecret) else error
            log.error("refresh_crashed", feed_id=job.feed_id, reason=str(error), exc_info=trace)
            await self._retry_later(job, claim, outcome, reason, CRASH_PAUSE)
        return outcome

    def _requested_at(self, job: RefreshFeed) -> datetime | None:
        """When a person requested the refresh; None for a scheduled one."""
        if not _is_requested(job):
            return None
        return (self.held_claims.taken_at(job.token) if job.token else None) or self.tools.clock()

    async def _retry_later(
        self, job: RefreshFeed, claim: Claim, outcome: JobOutcome, reason: Message, pause: timedelta
    ) -> None:
        """Makes the feed due after the pause; a resting feed only if a person requested the refresh."""
        should_retry = claim.feed.next_fetch_at is not None or _is_requested(job)
        at = self.breaker.retry_at(self.tools.clock(), pause) if should_retry else None
        await record_refresh(self.tools.db, claim, Postponed(Schedule(at, reason)), self._steps_to_end(job, outcome))

    def _storage_worked(self, decision: RefreshDecision) -> None:
        self.breaker.worked(kept_body=isinstance(decision, Updated | Failed) and decision.raw is not None)
        if self.breaker.is_closed:
            DEPENDENCY_OUTAGES.worked(REFRESH_TASK)

    async def _claim(self, job: RefreshFeed) -> Claim | JobOutcome:
        """The claim of the job, or a new one; or the outcome if there is none."""
        if job.token is not None:
            claim = await self.held_claims.take(job.feed_id, job.token)
            if claim is None:
                return await self._unclaimed(job)
            if job.batch_id is not None and not await self.batches.is_running(job.batch_id):
                return await self._release(claim, JobOutcome(job.feed_id, "cancelled"))
            return claim
        claims = await claim_feeds(self.tools.db, [job.feed_id], self.tools.clock())
        if not claims:
            return await self._unclaimed(job)
        if reason := self.too_soon(claims[0].feed):
            return await self._release(claims[0], JobOutcome(job.feed_id, "skipped", message=reason))
        return claims[0]

    async def _unclaimed(self, job: RefreshFeed) -> JobOutcome:
        """The outcome for a feed that can't be claimed: another process has it, or it was deleted."""
        reasons = await why_unclaimed(self.tools.db, [job.feed_id])
        return JobOutcome(job.feed_id, "skipped", message=reasons[job.feed_id])

    async def _release(self, claim: Claim, outcome: JobOutcome) -> JobOutcome:
        await release_claims(self.tools.db, [claim])
        return outcome

    def too_soon(self, feed: Feed) -> Message | None:
        """Why the feed is not fetched again yet; None if it may be fetched."""
        if feed.last_fetched_at is None or feed.consecutive_failures:
            return None
        age = self.tools.clock() - feed.last_fetched_at
        return Message("job.too_soon", age=age) if timedelta() <= age < self.refresh_gap else None

    async def _end(self, job: RefreshFeed, outcome: JobOutcome) -> JobOutcome:
        log.info("refresh_skipped", feed_id=job.feed_id, reason=str(outcome.message))
        if steps := self._steps_to_end(job, outcome):
            await self.tools.db.batch(steps)
        return outcome

    async def _job_writes(self, job: RefreshFeed, claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
        return self._steps_to_end(job, job_outcome_of(claim.feed.id, decision))

    def _steps_to_end(self, job: RefreshFeed, outcome: JobOutcome) -> list[Step]:
        """The steps that record the end of a job in its batch; none for a job without a batch."""
        if job.batch_id is None:
            return []
        now = self.tools.clock()
        return [step_to_end_job(job.batch_id, outcome, now), step_to_record_heartbeat(job.batch_id, now)]


def _reason(error: Exception) -> Message | str:
    return error.message if isinstance(error, FeedmillError) else str(error) or type(error).__name__


def _is_requested(job: RefreshFeed) -> bool:
    """Whether a person requested the refresh, alone or in a batch, rather than a scan."""
    return job.batch_id is not None or job.token is None


def job_outcome_of(feed_id: int, decision: RefreshDecision) -> JobOutcome:
    """The outcome of a job from the decision of its refresh."""
    match decision:
        case Updated(stats=stats, changes=changes):
            return JobOutcome(feed_id, "updated", len(changes.new), _ms(stats.elapsed))
        case Unchanged(stats=stats):
            return JobOutcome(feed_id, "unchanged", 0, _ms(stats.elapsed))
        case Failed(stats=stats, message=message):
            return JobOutcome(feed_id, "failed", 0, _ms(stats.elapsed), message)
        case Postponed(schedule=schedule):
            return JobOutcome(feed_id, "postponed", message=schedule.why)


def _ms(length: timedelta) -> int:
    return round(length.total_seconds() * 1000)
