"""A worker process: takes messages, and runs their jobs on one event loop, many feeds at a time."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from functools import wraps
from typing import Any

import structlog

from feedmill.app import App
from feedmill.engine import names
from feedmill.engine.consumer import Consumer
from feedmill.engine.jobs import ArchiveImages, Priority
from feedmill.engine.tasks import Duty, register
from feedmill.errors import EngineUnavailable, InfrastructureError
from feedmill.run.beside import beside
from feedmill.run.distributed import Distributed, sending
from feedmill.run.embedded import Embedded, embedded, scheduling
from feedmill.run.lots import LotWork
from feedmill.run.presence import present
from feedmill.run.results import Result
from feedmill.store.batches import REFRESH_ALL

log = structlog.get_logger(__name__)

# Messages held at once. Each is a thread that waits; how many feeds are fetched at once is a setting.
THREADS = 50
GRACE = timedelta(seconds=15)
LAST_ACKNOWLEDGEMENTS = 5.0
# A scan ends before the next one comes.
SCAN_FOR = timedelta(seconds=50)
SCAN_PAUSE = 0.3
PING_EVERY = 3.0
# So many pings without an answer, and the workers do without a broker.
SILENT_PINGS = 4


async def work(app: App, stop: asyncio.Event, threads: int = THREADS, queues: Sequence[str] = names.QUEUES) -> None:
    """Works until `stop`; then what is not done goes back to where others find it."""
    async with sending(app) as out, present(app.coordination.sight, "worker"):
        consumer = Consumer(out.celery, queues, threads)
        async with embedded(app, GRACE) as parts:
            _connect(app, out, parts)
            async with beside(consumer.run(), _stand_in(app, parts)):
                await stop.wait()
                consumer.stop()
        if not await consumer.ended(LAST_ACKNOWLEDGEMENTS):
            log.warning("the broker does not answer; what was taken from it will be delivered again")


def _connect(app: App, out: Distributed, parts: Embedded) -> None:
    """Has messages run on the parts of this process, and what these ask for sent to whoever is free."""

    async def nudge_images() -> None:
        try:
            await out.sender.submit(ArchiveImages(), Priority.SCHEDULED)
        except EngineUnavailable as error:
            log.warning("images wait for the next scan", reason=str(error))

    parts.handlers.nudge_images = nudge_images
    # Where this worker can't store, it doesn't send for more either.
    out.scheduler.handlers.breaker = parts.handlers.breaker
    lot_work = LotWork(
        app.db, parts.engine, parts.handlers, app.coordination.locks, parts.scheduler.lane_of, app.tools.clock
    )
    register(out.celery, asyncio.get_running_loop(), lot_work, _duties(out, parts))


def _duties(out: Distributed, parts: Embedded) -> dict[str, Duty]:
    @_reported
    async def scan_due_feeds() -> Result:
        await scan(out)
        await parts.handlers.nudge_images()
        return {"success": True}

    @_reported
    async def schedule_user_batch_refresh(feed_ids: list[int], user_id: int | None = None) -> Result:
        batch_id, is_new = await out.batches.refresh(REFRESH_ALL, feed_ids, user_id)
        return {"success": True, "batch_id": batch_id, "is_new": is_new}

    @_reported
    async def chores() -> Result:
        return {"success": True, "done": await parts.chores.run_due()}

    @_reported
    async def fill_pools() -> Result:
        await parts.pools.keeper.tend()
        return {"success": True}

    return {
        names.SCAN: scan_due_feeds, names.START_BATCH: schedule_user_batch_refresh, names.CHORES: chores,
        names.FILL_POOLS: fill_pools,
    }  # fmt: skip


def _reported(duty: Duty) -> Duty:
    """A failure of ours is a result: these tasks come again."""

    @wraps(duty)
    async def run(**arguments: Any) -> Result:
        try:
            return await duty(**arguments)
        except InfrastructureError as error:
            log.error("a task failed; it comes again", task=duty.__name__, reason=str(error))
            return {"success": False, "error": str(error)}

    return run


async def scan(out: Distributed) -> None:
    """Sends what is due in lots, no faster than workers take them."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + SCAN_FOR.total_seconds()
    while loop.time() < deadline:
        await out.sender.look()
        is_full = await out.scheduler.scan()
        if not is_full:
            return
        await asyncio.sleep(SCAN_PAUSE)


async def _stand_in(app: App, parts: Embedded) -> None:
    """While the broker is away, this process finds by itself what is due: claims keep the workers apart."""
    silent = 0
    while True:
        silent = 0 if await app.coordination.answers() else silent + 1
        if silent >= SILENT_PINGS:
            log.warning("the broker is away: this worker refreshes what is due by itself")
            async with scheduling(parts):
                await _until_back(app)
            log.info("the broker is back")
        await asyncio.sleep(PING_EVERY)


async def _until_back(app: App) -> None:
    while not await app.coordination.answers():  # noqa: ASYNC110
        await asyncio.sleep(PING_EVERY)
