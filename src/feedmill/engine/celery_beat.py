"""Celery beat in a thread: sends the periodic tasks."""

import asyncio
import threading
from typing import Any

from celery import Celery  # type: ignore[import-untyped]
from celery.beat import ScheduleEntry, Scheduler, SchedulingError, Service  # type: ignore[import-untyped]

from feedmill.dependency_outages import DEPENDENCY_OUTAGES, REDIS
from feedmill.errors import EngineUnavailable
from feedmill.i18n.connection_errors import connection_message

# Seconds until it notices that it should stop.
MAX_SLEEP = 1


class OutageLoggingScheduler(Scheduler):  # type: ignore[misc]
    """Celery's scheduler, which logs an unavailable broker as one outage instead of a traceback for each task."""

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> None:
        try:
            self.apply_async(entry, producer=producer, advance=False)
            DEPENDENCY_OUTAGES.answered(REDIS)
        except SchedulingError as error:
            DEPENDENCY_OUTAGES.failed(entry.task, EngineUnavailable(connection_message(error) or str(error)))


class CeleryBeat:
    """Sends the periodic tasks. It has no state on disk: the tasks read from the database what is due."""

    def __init__(self, celery: Celery) -> None:
        self._service = Service(celery, max_interval=MAX_SLEEP, scheduler_cls=OutageLoggingScheduler)
        self._thread = threading.Thread(target=self._service.start, name="beat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    async def stop(self) -> None:
        await asyncio.to_thread(self._service.stop)
