"""The engine across processes: sends jobs as Celery messages through Redis."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from celery import Celery, chord  # type: ignore[import-untyped]
from celery.canvas import Signature  # type: ignore[import-untyped]
from celery.exceptions import BackendStoreError  # type: ignore[import-untyped]
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from feedmill.engine.jobs import Job, Priority
from feedmill.engine.messages import JobMessage, message_of, messages_of
from feedmill.engine.task_names import DEFAULT_QUEUE, HIGH_QUEUE
from feedmill.errors import EngineUnavailable
from feedmill.i18n.connection_errors import connection_message

T = TypeVar("T")

# A request for a refresh is answered within this, with or without a broker.
SEND_TIMEOUT = 2.0
SECONDS_PER_MESSAGE = 0.05
# A separate pool: a broker that does not answer must not block the other threads of the process.
THREADS = 4


class CeleryEngine:
    """Sends jobs to workers in other processes. A batch is a chord over chunks of feeds.

    Every method raises `EngineUnavailable` when the broker does not answer in time. The message may have been sent
    nevertheless.
    """

    def __init__(self, celery: Celery) -> None:
        self._celery = celery
        self._threads = ThreadPoolExecutor(THREADS, "broker")

    async def submit(self, job: Job, priority: Priority) -> None:
        message = message_of(job, priority)
        await self._in_thread(lambda: self._signature(message).apply_async())

    async def run_batch(self, jobs: Sequence[Job], callback: Job, priority: Priority) -> None:
        signatures = [self._signature(message) for message in messages_of(jobs, priority)]
        callback_signature = self._signature(message_of(callback, Priority.MANUAL))
        if signatures:
            await self._in_thread(
                lambda: chord(signatures, app=self._celery)(callback_signature), messages=len(signatures)
            )
        else:
            await self._in_thread(callback_signature.apply_async)

    async def send_task(self, task: str) -> None:
        """Sends a task that takes no arguments."""
        await self._in_thread(lambda: self._signature(JobMessage(task, {}, HIGH_QUEUE)).apply_async())

    async def waiting(self) -> int:
        """How many messages wait in the default queue."""
        return await self._in_thread(self._count_waiting)

    def waits(self) -> Mapping[str, int]:
        return {}

    async def stop(self) -> list[Job]:
        """Closes the connections. Jobs already sent belong to the workers."""
        await asyncio.to_thread(self._celery.close)
        return []

    def _count_waiting(self) -> int:
        with self._celery.connection_for_write() as connection:
            connection.ensure_connection(max_retries=1, timeout=1)
            return int(connection.default_channel.client.llen(DEFAULT_QUEUE))

    def _signature(self, message: JobMessage) -> Signature:
        # Immutable: a chord's callback does not take the results of its chunks.
        return self._celery.signature(
            message.task, kwargs=dict(message.arguments), immutable=True, options={"queue": message.queue}
        )

    async def _in_thread(self, call: Callable[[], T], messages: int = 1) -> T:
        """Calls the broker in a thread, because Celery blocks."""
        limit = SEND_TIMEOUT + SECONDS_PER_MESSAGE * messages
        try:
            async with asyncio.timeout(limit):
                return await asyncio.get_running_loop().run_in_executor(self._threads, call)
        except TimeoutError as error:
            raise EngineUnavailable(f"the broker does not answer within {limit:.0f} s") from error
        except (OperationalError, RedisError, BackendStoreError, OSError) as error:
            raise EngineUnavailable(f"the broker takes no jobs: {connection_message(error) or error}") from error
