"""Pools on SQLite and PostgreSQL, with Redis and without, and a clock that a test moves."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime

import pytest
from redis.asyncio import Redis

from feedmill.coordination.fallback import CoordinationCircuitBreaker
from feedmill.coordination.redis_client import connect
from feedmill.coordination.redis_pool_queues import RedisPoolQueues, connect_without_retry
from feedmill.coordination.redis_slots_and_locks import RedisLocks
from feedmill.html.sanitize import sanitize_html
from feedmill.pools.item_texts import ItemTexts
from feedmill.pools.pool_tools import PoolLists, PoolTools
from feedmill.pools.service import PoolService
from feedmill.store.database import Database
from tests.pools.pool_rows import NOW
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
async def lists(redis_service: Service, redis: Redis) -> AsyncIterator[PoolLists]:
    client = connect_without_retry(redis_service.url)
    yield PoolLists(RedisPoolQueues(client), RedisLocks(redis), CoordinationCircuitBreaker(retry_after=0))
    await client.aclose()


@pytest.fixture
def pools(db: Database, lists: PoolLists, clock: Clock) -> PoolService:
    """Pools with Redis."""
    return PoolService(PoolTools(db, ItemTexts(sanitize_html), lists, clock))


@pytest.fixture
def bare_pools(db: Database, clock: Clock) -> PoolService:
    """Pools of one process without Redis."""
    return PoolService(PoolTools(db, ItemTexts(sanitize_html), clock=clock))


@pytest.fixture(params=["redis", "database"])
def any_pools(request: pytest.FixtureRequest) -> PoolService:
    """Pools with and without Redis, which give the same guarantees."""
    pools: PoolService = request.getfixturevalue("pools" if request.param == "redis" else "bare_pools")
    return pools
