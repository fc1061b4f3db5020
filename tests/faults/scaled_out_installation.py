"""A scaled-out installation for fault tests: PostgreSQL, Redis, a scheduler, workers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from feedmill.engine.celery_app import make_celery
from feedmill.engine.task_names import HIGH_QUEUE, QUEUES
from feedmill.store.drivers.postgres import PostgresDatabase
from feedmill.store.migrations import migrate
from tests.databases import empty
from tests.faults.fault_environment import FaultEnvironment
from tests.faults.feed_server import FeedServer
from tests.faults.processes import FeedmillProcess, FeedmillProcesses
from tests.scripted_web.server import Web
from tests.services.redis import own_redis
from tests.services.server import Restartable

SHORT_WAITS: dict[str, Any] = {"lease": 2.0, "scan_every": 0.5, "visibility": 4, "storage_pause": 0.5}


@dataclass
class ScaledOutInstallation:
    env: FaultEnvironment
    redis: Restartable
    client: Redis

    async def start(self, role: str, **options: Any) -> FeedmillProcess:
        return await self.env.start(role=role, **SHORT_WAITS | options)

    async def send(self, task: str, **arguments: Any) -> str:
        """Sends a message as another program would; its id."""
        celery = make_celery(self.redis.service.url)
        return str(celery.send_task(task, kwargs=arguments, queue=HIGH_QUEUE).id)

    async def delete_queues(self) -> None:
        await self.client.delete(*QUEUES, "unacked", "unacked_index")

    async def wipe(self) -> None:
        try:
            await self.client.flushall()
        except RedisError:
            return


@asynccontextmanager
async def scaled_out(folder: Path, database_url: str, feeds: int, **more: str) -> AsyncIterator[ScaledOutInstallation]:
    """The database and Redis, with no process started yet."""
    db = PostgresDatabase(database_url)
    await migrate(db)
    await empty(db)
    with own_redis() as redis:
        settings = {
            "database": database_url,
            "redis": redis.service.url,
            "data": str(folder),
            "objects": str(folder / "objects"),
            "allow_private": "127.0.0.0/8",
            "host_gap": "0",
            **more,
        }
        client = Redis.from_url(redis.service.url, decode_responses=True)
        async with Web() as web, FeedmillProcesses(folder) as processes:
            env = FaultEnvironment(FeedServer(web, feeds), db, processes, folder, settings)
            await env.subscribe_alice()
            yield ScaledOutInstallation(env, redis, client)
        await client.aclose()
    await db.close()
