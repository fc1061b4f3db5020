"""Celery with its worker in this process, as the contract wants it: an engine and the handler behind it."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from redis.asyncio import Redis

from feedmill.engine.celery_app import make_celery
from feedmill.engine.celery_consumer import CeleryConsumer
from feedmill.engine.celery_engine import CeleryEngine
from feedmill.engine.celery_tasks import TaskResult, register_tasks
from feedmill.engine.engine import JobHandler, JobNotRun
from feedmill.engine.in_process import InProcessEngine
from feedmill.engine.jobs import Job, Priority, RefreshFeed
from feedmill.engine.task_names import QUEUES
from tests.waiting import LONGEST_WAIT, until

THREADS = 130


class PlainWork:
    """Runs jobs on the engine of the process, and counts the feeds that it was given."""

    def __init__(self, engine: InProcessEngine) -> None:
        self._engine = engine
        self.feeds = 0

    async def run_job(self, job: Job, priority: Priority, job_id: str) -> TaskResult | None:
        self.feeds += isinstance(job, RefreshFeed)
        await self._engine.run(job, priority)
        return {"success": True}

    async def run_chunk(self, jobs: Sequence[RefreshFeed], priority: Priority, job_id: str) -> TaskResult:
        self.feeds += len(jobs)
        if any(isinstance(end, JobNotRun) for end in await self._engine.run_all(jobs, priority)):
            raise JobNotRun
        return {"success": True}


class CeleryHere:
    def __init__(self, redis_url: str, handler: JobHandler, **options: Any) -> None:
        celery = make_celery(redis_url)
        self._sender = CeleryEngine(celery)
        self._local = InProcessEngine(handler, **options)
        self._consumer = CeleryConsumer(celery, QUEUES, THREADS)
        self._work = PlainWork(self._local)
        self._feeds_sent = 0
        register_tasks(celery, asyncio.get_running_loop(), self._work, {})
        self._running = asyncio.create_task(self._consumer.run())
        self._has_stopped = False

    async def submit(self, job: Job, priority: Priority) -> None:
        self._feeds_sent += 1
        await self._sender.submit(job, priority)

    async def run_batch(self, jobs: Sequence[Job], callback: Job, priority: Priority) -> None:
        self._feeds_sent += len(jobs)
        await self._sender.run_batch(jobs, callback, priority)

    async def until_taken(self) -> None:
        """Waits until every feed that was sent has come to the engine of the process."""
        await until(lambda: self._work.feeds >= self._feeds_sent, otherwise="a message is still on its way")

    def waits(self) -> Mapping[str, int]:
        return self._local.waits()

    async def stop(self) -> list[Job]:
        if self._has_stopped:
            return []
        self._has_stopped = True
        self._consumer.stop()
        undone = await self._local.stop()
        await self._running
        assert await self._consumer.ended(LONGEST_WAIT)
        await self._sender.stop()
        return undone


async def empty_queues(redis_url: str) -> None:
    redis = Redis.from_url(redis_url)
    await redis.flushdb()
    await redis.aclose()
