"""Everything that runs in the background of one process: the engine, the scheduler, the batches."""

import asyncio
import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import urlsplit

import structlog

from feedmill.app import App
from feedmill.collect.declared import DeclaredFeeds
from feedmill.engine.inprocess import GRACE, LAST_WORDS, InProcessEngine
from feedmill.engine.jobs import ArchiveImages, Job, Priority
from feedmill.errors import DatabaseError
from feedmill.model.feed import Feed
from feedmill.pools.door import Pools
from feedmill.run.batches import Batches
from feedmill.run.beside import beside
from feedmill.run.chores import Chores, chores_of
from feedmill.run.errands import Errands, errands_of
from feedmill.run.handlers import Handlers
from feedmill.run.images import ImageWork
from feedmill.run.keeper import ClaimKeeper
from feedmill.run.scheduler import Scheduler
from feedmill.run.wanted import Wanted
from feedmill.store.claims import mend_far_times

log = structlog.get_logger(__name__)

# More jobs than fetches at once: while some parse and store, others keep the line busy.
JOBS_PER_FETCH = 2
# A person who asks again within so many host gaps gets the same answer.
REFRESH_GAPS = 30


@dataclass(frozen=True, slots=True)
class Embedded:
    engine: InProcessEngine
    handlers: Handlers
    scheduler: Scheduler
    batches: Batches
    chores: Chores
    pools: Pools
    errands: Errands


@asynccontextmanager
async def embedded(app: App, grace: timedelta = GRACE) -> AsyncIterator[Embedded]:
    """The parts, ready to be given work; stopped at the end with their claims given back."""
    _spare_the_collector()
    parts = assemble(app)
    renewing = asyncio.create_task(parts.handlers.keeper.keep_renewing())
    try:
        yield parts
    finally:
        renewing.cancel()
        await _let_go(parts, await parts.engine.stop(grace))


async def _let_go(parts: Embedded, undone: Sequence[Job]) -> None:
    """Gives back what is not done, unless the database is as good as gone: then it all ends by itself."""
    try:
        async with asyncio.timeout(LAST_WORDS.total_seconds()):
            await parts.handlers.keeper.give_back(undone)
            await parts.batches.leave(undone)
    except (DatabaseError, TimeoutError) as error:
        log.warning("claims could not be given back; they end by themselves", reason=str(error))


@asynccontextmanager
async def scheduling(parts: Embedded) -> AsyncIterator[None]:
    """Runs the scheduler for the block, what another process left, chores, errands and the pools' keeper."""
    async with beside(
        parts.scheduler.run(), parts.batches.keep_resuming(), parts.chores.keep_running(),
        parts.pools.keeper.keep_tending(), parts.errands.keep_running(),
    ):  # fmt: skip
        yield


def _spare_the_collector() -> None:
    """A feed makes thousands of short-lived values and no cycles; looking for these at each feed costs a tenth."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


def assemble(app: App) -> Embedded:
    gap = timedelta(seconds=app.settings.host_gap)

    def lane_of(feed: Feed) -> str:
        return (urlsplit(feed.url).hostname or "") if gap else ""

    async def rest(seconds: float) -> None:
        await engine.rest(seconds)

    async def mend_times() -> None:
        await mend_far_times(app.db, clock())

    async def nudge_images() -> None:
        await engine.submit(ArchiveImages(), Priority.SCHEDULED)

    clock = app.tools.clock
    images = ImageWork(replace(app.images, clock=clock))
    handlers = Handlers(
        replace(app.tools, rest=rest), ClaimKeeper(app.db, clock), Wanted(app.db), gap * REFRESH_GAPS,
        images=images, nudge_images=nudge_images,
    )  # fmt: skip
    engine = InProcessEngine(handlers, app.settings.fetches_at_once * JOBS_PER_FETCH)
    declared = DeclaredFeeds(app.db, app.settings.feeds_file, app.settings.data, app.tools.rules.floor)
    first = [declared.follow, mend_times, nudge_images]
    scheduler = Scheduler(app.db, engine, handlers, lane_of, clock, gap, before_scan=first)
    batches = Batches(app.db, engine, handlers, lane_of, clock)
    chores = replace(chores_of(app), clock=clock)
    return Embedded(engine, handlers, scheduler, batches, chores, app.pools, errands_of(app))
