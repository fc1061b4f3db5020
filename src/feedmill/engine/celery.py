"""The engine across processes: jobs become messages that workers take out of Redis (see `tasks`)."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from celery import Celery, chord  # type: ignore[import-untyped]
from celery.canvas import Signature  # type: ignore[import-untyped]
from celery.exceptions import BackendStoreError  # type: ignore[import-untyped]
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from feedmill.engine.jobs import Job, Priority
from feedmill.engine.messages import Message, message_of, messages_of
from feedmill.engine.names import DEFAULT, HIGH
from feedmill.errors import EngineUnavailable

T = TypeVar("T")


class CeleryEngine:
    """Sends jobs; whoever works on them does so elsewhere. A batch is a chord over lots of feeds."""

    def __init__(self, celery: Celery) -> None:
        self._celery = celery

    async def submit(self, job: Job, priority: Priority) -> None:
        message = message_of(job, priority)
        await _in_thread(lambda: self._signature(message).apply_async())

    async def run_batch(self, jobs: Sequence[Job], callback: Job, priority: Priority) -> None:
        lots = [self._signature(message) for message in messages_of(jobs, priority)]
        last = self._signature(message_of(callback, Priority.MANUAL))
        if lots:
            await _in_thread(lambda: chord(lots, app=self._celery)(last))
        else:
            await _in_thread(last.apply_async)

    async def begin(self, task: str) -> None:
        """Has a task that takes no arguments run soon."""
        await _in_thread(lambda: self._signature(Message(task, {}, HIGH)).apply_async())

    async def waiting(self) -> int:
        """How many messages wait in the queue of scheduled work."""
        return await _in_thread(self._count_waiting)

    def waits(self) -> Mapping[str, int]:
        return {}

    async def stop(self) -> list[Job]:
        """Closes the connections. What was handed in is the workers'."""
        await asyncio.to_thread(self._celery.close)
        return []

    def _count_waiting(self) -> int:
        with self._celery.connection_for_write() as connection:
            connection.ensure_connection(max_retries=1, timeout=1)
            return int(connection.default_channel.client.llen(DEFAULT))

    def _signature(self, message: Message) -> Signature:
        # Immutable: a chord's callback does not want the results of all lots.
        return self._celery.signature(
            message.task, kwargs=dict(message.arguments), immutable=True, options={"queue": message.queue}
        )


async def _in_thread(talk: Callable[[], T]) -> T:
    """Talks to the broker in a thread, because Celery waits for its answers."""
    try:
        return await asyncio.to_thread(talk)
    except (OperationalError, RedisError, BackendStoreError, OSError) as error:
        raise EngineUnavailable(f"the broker takes no jobs: {error}") from error
