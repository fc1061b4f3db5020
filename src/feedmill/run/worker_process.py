"""The worker process: takes messages and runs their jobs on one event loop."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from functools import wraps
from typing import Any

from feedmill.app import App
from feedmill.dependency_outages import DEPENDENCY_OUTAGES
from feedmill.engine import task_names
from feedmill.engine.celery_consumer import CeleryConsumer
from feedmill.engine.celery_tasks import TaskFunction, register_tasks
from feedmill.engine.task_arguments import read_feed_ids, read_id
from feedmill.errors import InfrastructureError
from feedmill.lazy_loggers import get_logger
from feedmill.model.batch import REFRESH_ALL
from feedmill.run.announce_presence import announce_presence
from feedmill.run.distributed import DistributedParts, open_distributed
from feedmill.run.embedded import EmbeddedParts, open_embedded
from feedmill.run.job_results import JobResult
from feedmill.run.maintenance import make_maintenance
from feedmill.run.periodic_parts import run_periodic_parts
from feedmill.run.run_in_background import run_in_background
from feedmill.run.worker_jobs import WorkerJobRunner

log = get_logger(__name__)

# Messages held at once, each by a thread that waits. How many feeds are fetched at once is a setting.
THREADS = 50
STOP_GRACE = timedelta(seconds=15)
ACKNOWLEDGE_TIMEOUT = 5.0
# A scan ends before the next one is sent.
SCAN_TIME_LIMIT = timedelta(seconds=50)
SCAN_PAUSE = 0.3
PING_EVERY = 3.0
# After this many unanswered pings the worker scans by itself.
MAX_UNANSWERED_PINGS = 4


async def run_worker_process(
    app: App, stop: asyncio.Event, threads: int = THREADS, queues: Sequence[str] = task_names.QUEUES
) -> None:
    """Works until `stop`; then releases undone jobs for other workers."""
    async with open_distributed(app) as distributed, announce_presence(app.coordination.presence, "worker"):
        consumer = CeleryConsumer(distributed.celery, queues, threads)
        async with open_embedded(app, STOP_GRACE) as parts:
            _connect(app, distributed, parts)
            async with run_in_background(consumer.run(), _scan_without_broker(app, parts)):
                await stop.wait()
                consumer.stop()
        if not await consumer.ended(ACKNOWLEDGE_TIMEOUT):
            log.warning("messages_not_acknowledged", reason="the broker does not answer")


def _connect(app: App, distributed: DistributedParts, parts: EmbeddedParts) -> None:
    """Connects Celery with the parts of this process: messages run on them, new jobs go to all workers."""
    parts.handlers.nudge_images = distributed.batches.archive_images
    # A worker whose storage fails sends no further scans either.
    distributed.scheduler.handlers.breaker = parts.handlers.breaker
    runner = WorkerJobRunner(
        app.db, parts.engine, parts.handlers, app.coordination.locks, parts.scheduler.lane_of, app.tools.clock
    )
    register_tasks(distributed.celery, asyncio.get_running_loop(), runner, _periodic_tasks(app, distributed, parts))


def _periodic_tasks(app: App, distributed: DistributedParts, parts: EmbeddedParts) -> dict[str, TaskFunction]:
    @_failure_as_result
    async def scan_due_feeds() -> JobResult:
        await send_due_feeds(distributed)
        await parts.handlers.nudge_images()
        return {"success": True}

    @_failure_as_result
    async def schedule_user_batch_refresh(
        feed_ids: object = None, user_id: object = None, feeds: object = None
    ) -> JobResult:
        wanted = read_feed_ids(feeds if feed_ids is None else feed_ids)
        batch_id, is_new = await distributed.batches.refresh(REFRESH_ALL, wanted, read_id(user_id))
        return {"success": True, "batch_id": batch_id, "is_new": is_new}

    @_failure_as_result
    async def maintenance() -> JobResult:
        return {"success": True, "done": await make_maintenance(app).run_due()}

    @_failure_as_result
    async def fill_pools() -> JobResult:
        await app.pools.maintainer.run_once()
        return {"success": True}

    return {
        task_names.SCAN_DUE_FEEDS: scan_due_feeds,
        task_names.START_BATCH: schedule_user_batch_refresh,
        task_names.MAINTENANCE: maintenance,
        task_names.FILL_POOLS: fill_pools,
    }


def _failure_as_result(function: TaskFunction) -> TaskFunction:
    """Turns a failure of our own into a result: these tasks run again periodically."""

    @wraps(function)
    async def run(**arguments: Any) -> JobResult:
        try:
            result = await function(**arguments)
            DEPENDENCY_OUTAGES.worked(function.__name__)
            return result
        except InfrastructureError as error:
            DEPENDENCY_OUTAGES.failed(function.__name__, error)
            return {"success": False, "error": str(error)}

    return run


async def send_due_feeds(distributed: DistributedParts) -> None:
    """Sends due feeds in chunks, no faster than workers take them."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + SCAN_TIME_LIMIT.total_seconds()
    while loop.time() < deadline:
        await distributed.sender.update_backlog()
        is_full = await distributed.scheduler.scan()
        if not is_full:
            return
        await asyncio.sleep(SCAN_PAUSE)


async def _scan_without_broker(app: App, parts: EmbeddedParts) -> None:
    """Scans for due feeds in this process while the broker is unavailable; claims keep the workers apart."""
    unanswered = 0
    while True:
        unanswered = 0 if await app.coordination.answers() else unanswered + 1
        if unanswered >= MAX_UNANSWERED_PINGS:
            log.warning("worker_scans_by_itself", reason="the broker does not answer")
            async with run_periodic_parts(app, parts):
                await _wait_for_broker(app)
            log.warning("worker_takes_messages_again")
        await asyncio.sleep(PING_EVERY)


async def _wait_for_broker(app: App) -> None:
    while not await app.coordination.answers():  # noqa: ASYNC110
        await asyncio.sleep(PING_EVERY)
