"""What fetches feeds in one process: engine, job handlers, scheduler, batches."""

import asyncio
import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

from feedmill.app import App
from feedmill.collect.declared.sync_feeds import DeclaredFeeds
from feedmill.engine.in_process import CANCEL_GRACE, STOP_GRACE, InProcessEngine
from feedmill.engine.jobs import ArchiveImages, Job, Priority
from feedmill.errors import DatabaseError
from feedmill.lazy_loggers import get_logger
from feedmill.model.feed import Feed
from feedmill.model.hosts import host_of
from feedmill.run.batch_running_check import BatchRunningCheck
from feedmill.run.batches import Batches
from feedmill.run.held_claims import HeldClaims
from feedmill.run.image_worker import ImageWorker
from feedmill.run.index_texts import INDEX_EVERY, index_last_stored_texts, keep_indexing_texts
from feedmill.run.job_handlers import JobHandlers
from feedmill.run.memory_allocator import return_freed_memory
from feedmill.run.scheduler import Scheduler
from feedmill.store.feeds.claims import FarTimesRepair

log = get_logger(__name__)

# More jobs than concurrent fetches: while some parse and store, others fetch.
JOBS_PER_FETCH = 2
# A manual refresh is skipped within this many host gaps after the last fetch.
MANUAL_REFRESH_GAPS = 30


@dataclass(frozen=True, slots=True)
class EmbeddedParts:
    engine: InProcessEngine
    handlers: JobHandlers
    scheduler: Scheduler
    batches: Batches


@asynccontextmanager
async def open_embedded(
    app: App, grace: timedelta = STOP_GRACE, index_every: timedelta = INDEX_EVERY
) -> AsyncIterator[EmbeddedParts]:
    """Opens the parts; at the end stops them, releases their claims and indexes what they have stored."""
    return_freed_memory()
    _tune_garbage_collection()
    parts = assemble_parts(app)
    renewing = asyncio.create_task(parts.handlers.held_claims.keep_renewing())
    indexing = asyncio.create_task(keep_indexing_texts(app.db, index_every))
    try:
        yield parts
    finally:
        renewing.cancel()
        await _release_claims(parts, await parts.engine.stop(grace))
        indexing.cancel()
        await index_last_stored_texts(app.db)


async def _release_claims(parts: EmbeddedParts, undone: Sequence[Job]) -> None:
    """Releases the claims and batches of undone jobs. If the database does not answer, the claims expire."""
    try:
        async with asyncio.timeout(CANCEL_GRACE.total_seconds()):
            await parts.handlers.held_claims.release(undone)
            await parts.batches.release(undone)
    except (DatabaseError, TimeoutError) as error:
        log.warning("claims_not_released", reason=str(error))


def _tune_garbage_collection() -> None:
    """Makes garbage collection rarer: a feed makes thousands of short-lived values and no cycles; it saves a tenth."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


def assemble_parts(app: App) -> EmbeddedParts:
    gap = timedelta(seconds=app.settings.host_gap)

    def lane_of(feed: Feed) -> str:
        return host_of(feed.url) if gap else ""

    async def rest(seconds: float) -> None:
        await engine.rest(seconds)

    async def nudge_images() -> None:
        await engine.submit(ArchiveImages(), Priority.SCHEDULED)

    clock = app.tools.clock
    images = ImageWorker(replace(app.images, clock=clock))
    handlers = JobHandlers(
        replace(app.tools, sleep=rest),
        HeldClaims(app.db, clock),
        BatchRunningCheck(app.db),
        gap * MANUAL_REFRESH_GAPS,
        images=images,
        nudge_images=nudge_images,
    )
    engine = InProcessEngine(handlers, app.settings.fetches_at_once * JOBS_PER_FETCH)
    declared = DeclaredFeeds(
        app.db, app.settings.feeds_file, app.settings.data, app.tools.rules.floor, encryption=app.tools.encryption
    )
    before_scan = [declared.follow, FarTimesRepair(app.db, clock).run_if_due, nudge_images]
    scheduler = Scheduler(app.db, engine, handlers, lane_of, clock, gap, before_scan=before_scan)
    batches = Batches(app.db, engine, handlers, lane_of, clock)
    return EmbeddedParts(engine, handlers, scheduler, batches)
