"""Takes messages from Redis with a Celery worker in a thread."""

import asyncio
import logging
import os
import socket
import threading
from collections.abc import Sequence

from celery import Celery  # type: ignore[import-untyped]
from celery.worker import WorkController, state  # type: ignore[import-untyped]
from kombu.asynchronous import set_event_loop

from feedmill.lazy_loggers import get_logger

log = get_logger(__name__)

EX_OK = 0
CHECK_EVERY = 0.2


class CeleryConsumer:
    """A Celery worker with threads. One per process, because Celery's state is global."""

    def __init__(self, celery: Celery, queues: Sequence[str], threads: int) -> None:
        self._celery, self._queues, self._threads = celery, list(queues), threads
        self._thread: threading.Thread | None = None
        state.should_stop = None
        _raise_log_level("celery", logging.WARNING)
        _raise_log_level(
            "celery.app.trace", logging.ERROR
        )  # It warns about each message that a stopping worker sends back.

    async def run(self) -> None:
        """Takes messages until `stop`; starts a new Celery worker if one crashes."""
        while state.should_stop is None:
            if self._thread is None or not self._thread.is_alive():
                self._start()
            await asyncio.sleep(CHECK_EVERY)

    def stop(self) -> None:
        """Takes no further message; messages in progress are finished."""
        state.should_stop = EX_OK

    async def ended(self, seconds: float) -> bool:
        """Waits until the last message was acknowledged or sent back; False on timeout."""
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, seconds)
        return self._thread is None or not self._thread.is_alive()

    def _start(self) -> None:
        if self._thread is not None:
            log.error("consumer_restarted", reason="its thread ended")
        self._celery.set_default()  # Celery's threads look for the app there.
        set_event_loop(None)  # The predecessor's event loop is closed.
        controller = WorkController(
            app=self._celery,
            pool="threads",
            concurrency=self._threads,
            queues=self._queues,
            hostname=f"worker-{os.getpid()}@{socket.gethostname()}",
            without_gossip=True,
            without_mingle=True,
        )
        self._thread = threading.Thread(target=controller.start, name="consumer", daemon=True)
        self._thread.start()


def _raise_log_level(name: str, level: int) -> None:
    logging.getLogger(name).setLevel(max(level, logging.getLogger().level))
