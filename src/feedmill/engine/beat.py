"""Celery's beat: sends the tasks that come round by themselves, from a thread of its own."""

import asyncio
import threading

from celery import Celery  # type: ignore[import-untyped]
from celery.beat import Scheduler, Service  # type: ignore[import-untyped]

# So long may it take until it notices that it should stop.
LONGEST_SLEEP = 1


class Beat:
    """Remembers nothing between two lives: what it sends asks the database what is to be done."""

    def __init__(self, celery: Celery) -> None:
        self._service = Service(celery, max_interval=LONGEST_SLEEP, scheduler_cls=Scheduler)
        self._thread = threading.Thread(target=self._service.start, name="beat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    async def stop(self) -> None:
        await asyncio.to_thread(self._service.stop)
