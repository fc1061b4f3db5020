"""Celery with its worker in this process, as the contract wants it: an engine and the handler behind it."""

import asyncio
from collections.abc import Sequence
from typing import Any

from redis.asyncio import Redis

from feedmill.engine.celery import CeleryEngine
from feedmill.engine.celery_app import make_celery
from feedmill.engine.consumer import Consumer
from feedmill.engine.engine import Handler, NotRun
from feedmill.engine.inprocess import InProcessEngine
from feedmill.engine.jobs import Job, Priority, RefreshFeed
from feedmill.engine.names import QUEUES
from feedmill.engine.tasks import Result, register

THREADS = 130


class PlainWork:
    """Runs jobs on the engine of the process, and nothing else."""

    def __init__(self, engine: InProcessEngine) -> None:
        self._engine = engine

    async def one(self, job: Job, priority: Priority, job_id: str) -> Result | None:
        await self._engine.run(job, priority)
        return {"success": True}

    async def lot(self, jobs: Sequence[RefreshFeed], priority: Priority, job_id: str) -> Result:
        if any(isinstance(end, NotRun) for end in await self._engine.run_all(jobs, priority)):
            raise NotRun
        return {"success": True}


class CeleryHere:
    def __init__(self, redis_url: str, handler: Handler, **options: Any) -> None:
        celery = make_celery(redis_url)
        self._redis = Redis.from_url(redis_url)
        self._sender = CeleryEngine(celery)
        self._local = InProcessEngine(handler, **options)
        self._consumer = Consumer(celery, QUEUES, THREADS)
        register(celery, asyncio.get_running_loop(), PlainWork(self._local), {})
        self._running = asyncio.create_task(self._consumer.run())
        self._has_stopped = False

    async def submit(self, job: Job, priority: Priority) -> None:
        await self._sender.submit(job, priority)

    async def run_batch(self, jobs: Sequence[Job], callback: Job, priority: Priority) -> None:
        await self._sender.run_batch(jobs, callback, priority)

    async def until_taken(self) -> None:
        """Waits until no message is in a queue, and a little, for those on their way from there to the engine."""
        async with asyncio.timeout(10):
            while any([await self._redis.llen(queue) for queue in QUEUES]):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)

    async def stop(self) -> list[Job]:
        if self._has_stopped:
            return []
        self._has_stopped = True
        self._consumer.stop()
        undone = await self._local.stop()
        await self._running
        assert await self._consumer.ended(10)
        await self._sender.stop()
        await self._redis.aclose()
        return undone


async def empty_queues(redis_url: str) -> None:
    redis = Redis.from_url(redis_url)
    await redis.flushdb()
    await redis.aclose()
