"""The worker and scheduler processes of a scaled-out installation, with shortened waits."""

import asyncio
import uuid
from datetime import timedelta
from typing import Any

from kombu.transport.redis import Channel

from feedmill.app import App
from feedmill.coordination import fallback
from feedmill.engine import celery_app, celery_consumer
from feedmill.run import scheduler_process, worker_process
from feedmill.run.scheduler_process import run_scheduler_process

ROLES = ("worker", "scheduler")


async def run_role(role: str, app: App, stop: asyncio.Event) -> None:
    """Runs as that process until `stop` is set."""
    await (worker_process.run_worker_process(app, stop) if role == "worker" else run_scheduler_process(app, stop))


def shorten_waits(scan_every: float, visibility: float, repeat: int) -> None:
    """Shortens the waits between the processes."""
    celery_app.VISIBILITY_TIMEOUT = timedelta(seconds=visibility)
    celery_app.RESTORE_EVERY = timedelta(seconds=1)
    celery_app.SCAN_EVERY = timedelta(seconds=scan_every)
    scheduler_process.CHECK_EVERY = timedelta(seconds=scan_every)
    worker_process.PING_EVERY = 0.3
    worker_process.SCAN_TIME_LIMIT = timedelta(seconds=1)
    fallback.FallbackHostSlots.__init__.__defaults__ = (*fallback.FallbackHostSlots.__init__.__defaults__[:-1], 0.5)  # type: ignore[index]
    celery_consumer.CHECK_EVERY = 0.05
    if repeat > 1:
        _deliver_again(repeat)


def _deliver_again(times: int) -> None:
    """Delivers each message several times, as a broker may."""
    put = Channel._put

    def put_again(self: Channel, queue: str, message: dict[str, Any], **kwargs: Any) -> None:
        for _ in range(times):
            message["properties"]["delivery_tag"] = str(uuid.uuid4())
            put(self, queue, message, **kwargs)

    Channel._put = put_again
