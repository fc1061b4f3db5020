"""The worker process: takes messages and runs their jobs on one event loop."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from functools import wraps
from typing import Any

from feedmill.app import App
from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.engine import task_names
from feedmill.engine.celery_consumer import CeleryConsumer
from feedmill.engine.celery_tasks import TaskFunction, register_tasks
from feedmill.engine.jobs import ArchiveImages, Priority
from feedmill.errors import EngineUnavailable, InfrastructureError
from feedmill.lazy_loggers import get_logger
from feedmill.model.batch import REFRESH_ALL
from feedmill.run.announce_presence import announce_presence
from feedmill.run.background import run_in_background
from feedmill.run.distributed import DistributedParts, open_distributed
from feedmill.run.embedded import EmbeddedParts, open_embedded, run_periodic_parts
from feedmill.run.job_results import JobResult
from feedmill.run.worker_jobs import WorkerJobRunner

log = get_logger(__name__)

# Messages held at once. Each is a thread that waits; how many feeds are fetched at once is a setting.
THREADS = 50
STOP_GRACE = timedelta(seconds=15)
ACKNOWLEDGE_TIMEOUT = 5.0
# A scan ends before the next one comes.
SCAN_TIME_LIMIT = timedelta(seconds=50)
SCAN_PAUSE = 0.3
PING_EVERY = 3.0
# So many pings without an answer, and the workers do without a broker.
SILENT_PINGS = 4


async def run_worker_process(
    app: App, stop: asyncio.Event, threads: int = THREADS, queues: Sequence[str] = task_names.QUEUES
) -> None:
    """Works until `stop`; then what is not done goes back to where others find it."""
    async with open_distributed(app) as out, announce_presence(app.coordination.presence, "worker"):
        consumer = CeleryConsumer(out.celery, queues, threads)
        async with open_embedded(app, STOP_GRACE) as parts:
            _connect(app, out, parts)
            async with run_in_background(consumer.run(), _stand_in(app, parts)):
                await stop.wait()
                consumer.stop()
        if not await consumer.ended(ACKNOWLEDGE_TIMEOUT):
            log.warning("the broker does not answer; what was taken from it will be delivered again")


def _connect(app: App, out: DistributedParts, parts: EmbeddedParts) -> None:
    """Has messages run on the parts of this process, and what these ask for sent to whoever is free."""

    async def nudge_images() -> None:
        # The next scan nudges them again.
        with suppress(EngineUnavailable):
            await out.sender.submit(ArchiveImages(), Priority.SCHEDULED)

    parts.handlers.nudge_images = nudge_images
    # Where this worker can't store, it doesn't send for more either.
    out.scheduler.handlers.breaker = parts.handlers.breaker
    lot_work = WorkerJobRunner(
        app.db, parts.engine, parts.handlers, app.coordination.locks, parts.scheduler.lane_of, app.tools.clock
    )
    register_tasks(out.celery, asyncio.get_running_loop(), lot_work, _duties(out, parts))


def _duties(out: DistributedParts, parts: EmbeddedParts) -> dict[str, TaskFunction]:
    @_reported
    async def scan_due_feeds() -> JobResult:
        await send_due_feeds(out)
        await parts.handlers.nudge_images()
        return {"success": True}

    @_reported
    async def schedule_user_batch_refresh(feed_ids: list[int], user_id: int | None = None) -> JobResult:
        batch_id, is_new = await out.batches.refresh(REFRESH_ALL, feed_ids, user_id)
        return {"success": True, "batch_id": batch_id, "is_new": is_new}

    @_reported
    async def chores() -> JobResult:
        return {"success": True, "done": await parts.chores.run_due()}

    @_reported
    async def fill_pools() -> JobResult:
        await parts.pools.keeper.tend()
        return {"success": True}

    return {
        task_names.SCAN_DUE_FEEDS: scan_due_feeds,
        task_names.START_BATCH: schedule_user_batch_refresh,
        task_names.MAINTENANCE: chores,
        task_names.FILL_POOLS: fill_pools,
    }


def _reported(duty: TaskFunction) -> TaskFunction:
    """A failure of ours is a result: these tasks come again."""

    @wraps(duty)
    async def run(**arguments: Any) -> JobResult:
        try:
            result = await duty(**arguments)
            DEPENDENCY_OUTAGES.worked(duty.__name__)
            return result
        except InfrastructureError as error:
            DEPENDENCY_OUTAGES.failed(duty.__name__, error)
            return {"success": False, "error": str(error)}

    return run


async def send_due_feeds(out: DistributedParts) -> None:
    """Sends what is due in lots, no faster than workers take them."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + SCAN_TIME_LIMIT.total_seconds()
    while loop.time() < deadline:
        await out.sender.look()
        is_full = await out.scheduler.scan()
        if not is_full:
            return
        await asyncio.sleep(SCAN_PAUSE)


async def _stand_in(app: App, parts: EmbeddedParts) -> None:
    """While the broker is away, this process finds by itself what is due: claims keep the workers apart."""
    silent = 0
    while True:
        silent = 0 if await app.coordination.answers() else silent + 1
        if silent >= SILENT_PINGS:
            log.warning("worker_scans_by_itself", reason="the broker does not answer")
            async with run_periodic_parts(parts):
                await _until_back(app)
            log.warning("worker_takes_messages_again")
        await asyncio.sleep(PING_EVERY)


async def _until_back(app: App) -> None:
    while not await app.coordination.answers():  # noqa: ASYNC110
        await asyncio.sleep(PING_EVERY)
