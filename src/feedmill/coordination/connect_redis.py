"""Connects to Redis by its URL and opens everything that processes share through it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager

from feedmill.coordination import redis
from feedmill.coordination.coordination import Coordination
from feedmill.coordination.fallback import FallbackHostSlots, FallbackLotLocks
from feedmill.coordination.locks import Locks
from feedmill.coordination.pool_queues import PoolQueues
from feedmill.coordination.redis import RedisHostSlots, RedisLocks, connect, is_available
from feedmill.coordination.redis_pool_queues import RedisPoolQueues, connect_without_retry
from feedmill.coordination.redis_presence import RedisPresence
from feedmill.errors import BadSetting


@asynccontextmanager
async def connect_coordination(url: str) -> AsyncIterator[Coordination]:
    """Always so that its loss stops nothing."""
    with _readable_url():
        client = connect(url)
    turns, locks = FallbackHostSlots(RedisHostSlots(client)), FallbackLotLocks(RedisLocks(client))
    try:
        yield Coordination(turns, locks, RedisPresence(client), lambda: is_available(client))
    finally:
        await client.aclose()


@asynccontextmanager
async def connect_pool_queues(url: str) -> AsyncIterator[tuple[PoolQueues, Locks]]:
    """The lists of pools, and the locks of those who fill them."""
    with _readable_url():
        for_lists, for_locks = connect_without_retry(url), connect(url)
    async with AsyncExitStack() as closing:
        closing.push_async_callback(for_lists.aclose)
        closing.push_async_callback(for_locks.aclose)
        yield RedisPoolQueues(for_lists), RedisLocks(for_locks)


async def ping(url: str) -> None:
    """Raises `CoordinationUnavailable` when no Redis answers at this URL."""
    with _readable_url():
        client = connect(url)
    try:
        await redis.ping(client)
    finally:
        await client.aclose()


@contextmanager
def _readable_url() -> Iterator[None]:
    try:
        yield
    except ValueError:
        # Not the URL itself: there may be a password in it.
        raise BadSetting("redis: a URL of Redis looks like redis://host:6379/0") from None
