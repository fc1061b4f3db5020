"""Everything that runs in one process: engine, job handlers, scheduler, batches, maintenance."""

import asyncio
import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import urlsplit

from feedmill.app import App
from feedmill.collect.declared.sync_feeds import DeclaredFeeds
from feedmill.engine.in_process import CANCEL_GRACE, STOP_GRACE, InProcessEngine
from feedmill.engine.jobs import ArchiveImages, Job, Priority
from feedmill.errors import DatabaseError
from feedmill.lazy_loggers import get_logger
from feedmill.model.feed import Feed
from feedmill.pools.service import PoolService
from feedmill.run.background import run_in_background
from feedmill.run.batch_cancellation import BatchCancellation
from feedmill.run.batches import Batches
from feedmill.run.claim_keeper import ClaimKeeper
from feedmill.run.image_worker import ImageWorker
from feedmill.run.job_handlers import JobHandlers
from feedmill.run.maintenance import Maintenance, make_maintenance
from feedmill.run.outbound_tasks import OutboundTasks, make_outbound_tasks
from feedmill.run.scheduler import Scheduler
from feedmill.store.feeds.claims import repair_far_future_times

log = get_logger(__name__)

# More jobs than fetches at once: while some parse and store, others keep the line busy.
JOBS_PER_FETCH = 2
# A person who asks again within so many host gaps gets the same answer.
MANUAL_REFRESH_GAPS = 30


@dataclass(frozen=True, slots=True)
class EmbeddedParts:
    engine: InProcessEngine
    handlers: JobHandlers
    scheduler: Scheduler
    batches: Batches
    chores: Maintenance
    pools: PoolService
    errands: OutboundTasks


@asynccontextmanager
async def open_embedded(app: App, grace: timedelta = STOP_GRACE) -> AsyncIterator[EmbeddedParts]:
    """The parts, ready to be given work; stopped at the end with their claims given back."""
    _spare_the_collector()
    parts = assemble_parts(app)
    renewing = asyncio.create_task(parts.handlers.keeper.keep_renewing())
    try:
        yield parts
    finally:
        renewing.cancel()
        await _let_go(parts, await parts.engine.stop(grace))


async def _let_go(parts: EmbeddedParts, undone: Sequence[Job]) -> None:
    """Gives back what is not done, unless the database is as good as gone: then it all ends by itself."""
    try:
        async with asyncio.timeout(CANCEL_GRACE.total_seconds()):
            await parts.handlers.keeper.give_back(undone)
            await parts.batches.leave(undone)
    except (DatabaseError, TimeoutError) as error:
        log.warning("claims could not be given back; they end by themselves", reason=str(error))


@asynccontextmanager
async def run_periodic_parts(parts: EmbeddedParts) -> AsyncIterator[None]:
    """Runs the scheduler for the block, what another process left, chores, errands and the pools' keeper."""
    async with run_in_background(
        parts.scheduler.run(),
        parts.batches.keep_resuming(),
        parts.chores.keep_running(),
        parts.pools.keeper.keep_tending(),
        parts.errands.keep_running(),
    ):
        yield


def _spare_the_collector() -> None:
    """A feed makes thousands of short-lived values and no cycles; looking for these at each feed costs a tenth."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


def assemble_parts(app: App) -> EmbeddedParts:
    gap = timedelta(seconds=app.settings.host_gap)

    def lane_of(feed: Feed) -> str:
        return (urlsplit(feed.url).hostname or "") if gap else ""

    async def rest(seconds: float) -> None:
        await engine.rest(seconds)

    async def mend_times() -> None:
        await repair_far_future_times(app.db, clock())

    async def nudge_images() -> None:
        await engine.submit(ArchiveImages(), Priority.SCHEDULED)

    clock = app.tools.clock
    images = ImageWorker(replace(app.images, clock=clock))
    handlers = JobHandlers(
        replace(app.tools, sleep=rest),
        ClaimKeeper(app.db, clock),
        BatchCancellation(app.db),
        gap * MANUAL_REFRESH_GAPS,
        images=images,
        nudge_images=nudge_images,
    )
    engine = InProcessEngine(handlers, app.settings.fetches_at_once * JOBS_PER_FETCH)
    declared = DeclaredFeeds(
        app.db, app.settings.feeds_file, app.settings.data, app.tools.rules.floor, encryption=app.tools.encryption
    )
    first = [declared.follow, mend_times, nudge_images]
    scheduler = Scheduler(app.db, engine, handlers, lane_of, clock, gap, before_scan=first)
    batches = Batches(app.db, engine, handlers, lane_of, clock)
    chores = replace(make_maintenance(app), clock=clock)
    return EmbeddedParts(engine, handlers, scheduler, batches, chores, app.pools, make_outbound_tasks(app))
