"""Pools on SQLite and PostgreSQL, with Redis and without, and a clock that a test moves."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime

import pytest
from redis.asyncio import Redis

from feedmill.coordination.fallback import Health
from feedmill.coordination.redis import RedisLocks, connect
from feedmill.coordination.redis_queues import RedisQueues, connect_once
from feedmill.library.render import sanitize
from feedmill.pools.door import Pools
from feedmill.pools.texts import Texts
from feedmill.pools.tools import Lists, PoolTools
from feedmill.store.database import Database
from tests.pools.rows import NOW
from tests.services.server import Service


@dataclass
class Clock:
    now: datetime = field(default=NOW)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def redis(redis_service: Service) -> AsyncIterator[Redis]:
    client = connect(redis_service.url)
    await client.flushdb()
    yield client
    await client.aclose()


@pytest.fixture
async def lists(redis_service: Service, redis: Redis) -> AsyncIterator[Lists]:
    client = connect_once(redis_service.url)
    yield Lists(RedisQueues(client), RedisLocks(redis), Health(rest=0))
    await client.aclose()


@pytest.fixture
def pools(db: Database, lists: Lists, clock: Clock) -> Pools:
    """Pools with Redis."""
    return Pools(PoolTools(db, Texts(sanitize), lists, clock))


@pytest.fixture
def bare_pools(db: Database, clock: Clock) -> Pools:
    """Pools of one process without Redis."""
    return Pools(PoolTools(db, Texts(sanitize), clock=clock))


@pytest.fixture(params=["redis", "database"])
def any_pools(request: pytest.FixtureRequest) -> Pools:
    """Whatever is promised with Redis is promised without."""
    pools: Pools = request.getfixturevalue("pools" if request.param == "redis" else "bare_pools")
    return pools
