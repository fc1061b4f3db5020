"""Works on the jobs of filters, in chunks. Each chunk is one batch, so a job can be killed at any point and run twice.

apply: the next stored entries that match, the newest first → what the filter does with them, and the next place
undo, revert: the next effects → their undo
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial

from feedmill.errors import CallerError, FeedmillError
from feedmill.i18n.messages import Message, message_or_none
from feedmill.lazy_loggers import get_logger
from feedmill.library.archive.request_images import image_task_steps
from feedmill.library.cursors import from_cursor, to_cursor
from feedmill.library.entries.marks import LATER_FOR
from feedmill.library.filters.stored_matches import (
    Deadline,
    StoredSearch,
    find_stored_matches,
    stored_search,
    without_followed,
)
from feedmill.library.filters.try_filter import count_stored_matches
from feedmill.model.feed import ArchivePolicy
from feedmill.model.filters.entry_filter import EntryFilter, FilterKind
from feedmill.store.database import Database, Step
from feedmill.store.entries.fill_deferred_entries import fill_deferred
from feedmill.store.entries.visible_entries import visible_entries
from feedmill.store.filters.apply_to_stored import StoredMatches, steps_to_apply
from feedmill.store.filters.effects import EffectsToUndo, count_affected_entries, next_effects
from feedmill.store.filters.filter_jobs import (
    ChunkProgress,
    ClaimedFilterJob,
    FilterJobLost,
    advance_filter_job,
    fail_filter_job,
    finish_filter_job,
    record_job_error,
    release_filter_jobs,
    step_to_count_changed,
    take_filter_job,
)
from feedmill.store.filters.filters import filter_of
from feedmill.store.filters.undo_effects import steps_to_undo
from feedmill.store.leases import LEASE

log = get_logger(__name__)

CHUNK_SIZE = 500
# After so long another job gets its turn. A chunk takes about as long at most, however slow its expressions are.
TURN = timedelta(seconds=10)
# Then the progress is shown among those that were counted.
COUNT_FOR = timedelta(seconds=30)
# So often a job is tried without progress, a lease apart.
MAX_ATTEMPTS = 5

# Does the next chunk; None when there is none left.
ChunkWork = Callable[[ClaimedFilterJob], Awaitable[ClaimedFilterJob | None]]


@dataclass(frozen=True, slots=True)
class FilterJobWorker:
    """Works on the jobs of all users, one after the other. Several processes may: each job is taken by one."""

    db: Database
    later_for: timedelta = LATER_FOR
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    seconds: Callable[[], float] = time.monotonic
    chunk_size: int = CHUNK_SIZE
    turn: timedelta = TURN

    async def work(self) -> int:
        """Works on the next job for a turn; how many chunks it did. 0: there is nothing to do."""
        job = await take_filter_job(self.db, self.clock())
        if job is None:
            return 0
        if job.attempts > MAX_ATTEMPTS:
            # Its process died each time, or nobody would know why it failed.
            await self._fail(job, message_or_none(job.last_error) or Message("job.died"))
            return 1
        try:
            chunks = await self._work_on(job)
        except FilterJobLost:
            log.info("filter_job_lost", job_id=job.id)
            return 1
        except asyncio.CancelledError:
            await asyncio.shield(release_filter_jobs(self.db, job.token, self.clock()))
            raise
        except Exception as error:  # Whatever it is: the job would fail in the same way without end.
            await self._record_failure(job, error)
            return 1
        await release_filter_jobs(self.db, job.token, self.clock())
        return chunks

    async def _record_failure(self, job: ClaimedFilterJob, error: Exception) -> None:
        """The job is taken again when its lease ends, not at once; after some attempts in a row it has failed."""
        log.error("filter_job_attempt_failed", job_id=job.id, attempts=job.attempts, exc_info=error)
        shown = error.message if isinstance(error, FeedmillError) else str(error) or type(error).__name__
        reason = Message("job.own_failure", reason=shown)
        if job.attempts < MAX_ATTEMPTS:
            await record_job_error(self.db, job, reason)
        else:
            await self._fail(job, reason)

    async def _fail(self, job: ClaimedFilterJob, reason: Message) -> None:
        await fail_filter_job(self.db, job, reason, self.clock())
        log.error("filter_job_failed", job_id=job.id, filter_id=job.filter_id, kind=job.kind, reason=str(reason))

    async def _work_on(self, job: ClaimedFilterJob) -> int:
        """Does chunks until the job has ended or its turn is over."""
        await fill_deferred(self.db, job.user_id)
        work = await (self._applying(job) if job.kind == "apply" else self._undoing(job))
        turn = Deadline.after(self.turn, self.seconds)
        chunks = 1
        while (advanced := await work(job)) is not None and not turn.has_passed:
            job, chunks = advanced, chunks + 1
        if advanced is None:
            await finish_filter_job(self.db, job, self.clock())
            log.info("filter_job_finished", job_id=job.id, filter_id=job.filter_id, kind=job.kind)
        return chunks

    async def _applying(self, job: ClaimedFilterJob) -> ChunkWork:
        own = await filter_of(self.db, job.user_id, job.filter_id)
        search = await self._search(own) if own is not None and own.enabled else None
        if own is None or search is None:
            return _nothing_left
        return partial(self._apply_chunk, own, search)

    async def _search(self, own: EntryFilter) -> StoredSearch | None:
        try:
            search = await stored_search(self.db, own.user_id, own.condition, own.scope, self.clock())
        except CallerError as error:
            log.warning("filter_unreadable", filter_id=own.id, reason=str(error))
            return None
        if own.kind is FilterKind.MUTE:
            return await without_followed(self.db, own.user_id, search, self.clock())
        return search

    async def _apply_chunk(
        self, own: EntryFilter, search: StoredSearch, job: ClaimedFilterJob
    ) -> ClaimedFilterJob | None:
        """Applies the filter to the next entries that match, as far as it comes in a turn; None when there are none."""
        if not job.chunk_start:
            # As many as the index finds: all of them are looked at.
            found_by_index, deadline = replace(search, unindexed=None), Deadline.after(COUNT_FOR, self.seconds)
            counted = await count_stored_matches(self.db, job.user_id, found_by_index, deadline)
            job = job._replace(total=counted.total)
        below = from_cursor(job.chunk_start) if job.chunk_start else None
        deadline = Deadline.after(self.turn, self.seconds)
        page = await find_stored_matches(self.db, job.user_id, search, self.chunk_size, deadline, below)
        if not page.found:
            return None
        now, ids = self.clock(), [key.entry_id for key in page.matching]
        matches = StoredMatches(own.id, own.user_id, ids, job.id)
        steps = [
            *steps_to_apply(matches, own.actions.targets, now, now + self.later_for),
            *(await self._image_steps(own, ids, now) if own.actions.star else ()),
            step_to_count_changed(job, ids),
        ]
        progress = ChunkProgress(to_cursor(page.found[-1].position), len(page.found))
        return await advance_filter_job(self.db, job, progress, now + LEASE, steps)

    async def _image_steps(self, own: EntryFilter, ids: Sequence[int], now: datetime) -> list[Step]:
        """Queues the images of starred entries whose feeds archive only those."""
        visible = await visible_entries(self.db, own.user_id, ids)
        wanting = sorted(id for id, policy in visible.items() if policy == ArchivePolicy.STARRED)
        return await image_task_steps(self.db, wanting, now)

    async def _undoing(self, job: ClaimedFilterJob) -> ChunkWork:
        wanted = EffectsToUndo(job.user_id, job.filter_id, job.id, job.undoes_job_id)
        own = await filter_of(self.db, job.user_id, job.filter_id)
        goes_on = job.kind == "revert" and own is not None and own.enabled
        return partial(self._undo_chunk, wanted, goes_on)

    async def _undo_chunk(self, wanted: EffectsToUndo, goes_on: bool, job: ClaimedFilterJob) -> ClaimedFilterJob | None:
        """Takes back the next effects; None when there are none left.

        What the filter does with newer entries stays if it `goes_on`. The place is the next entry, and then the last.
        """
        first, _, last = job.chunk_start.partition(":")
        if not first:
            affected = await count_affected_entries(self.db, wanted)
            job, last = job._replace(total=affected.number), str(affected.last_id) if goes_on else ""
        if last:
            wanted = wanted._replace(last_entry_id=int(last))
        effects = await next_effects(self.db, wanted, int(first or 0), self.chunk_size)
        if not effects:
            return None
        now, entry_ids = self.clock(), {effect.entry_id for effect in effects}
        progress = ChunkProgress(f"{effects[-1].entry_id}:{last}", len(entry_ids), len(entry_ids))
        steps = steps_to_undo(job.user_id, effects, now)
        return await advance_filter_job(self.db, job, progress, now + LEASE, steps)


async def _nothing_left(job: ClaimedFilterJob) -> None:
    return None
