"""Connects to Redis by its URL and opens everything that processes share through it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial

from feedmill.coordination import redis_client
from feedmill.coordination.coordination import Coordination
from feedmill.coordination.fallback import FallbackBulkLocks, FallbackHostSlots
from feedmill.coordination.locks import Locks
from feedmill.coordination.pool_queues import PoolQueues
from feedmill.coordination.redis_client import connect, count_messages, is_available
from feedmill.coordination.redis_pool_queues import RedisPoolQueues, connect_without_retry
from feedmill.coordination.redis_presence import RedisPresence
from feedmill.coordination.redis_slots_and_locks import RedisHostSlots, RedisLocks
from feedmill.errors import BadSetting


@asynccontextmanager
async def connect_coordination(url: str) -> AsyncIterator[Coordination]:
    """Opens coordination through Redis, with fallbacks for when Redis is lost."""
    with _translate_bad_url():
        client = connect(url)
    host_slots, locks = FallbackHostSlots(RedisHostSlots(client)), FallbackBulkLocks(RedisLocks(client))
    try:
        yield Coordination(
            host_slots, locks, RedisPresence(client), partial(count_messages, client), partial(is_available, client)
        )
    finally:
        await client.aclose()


@asynccontextmanager
async def connect_pool_queues(url: str) -> AsyncIterator[tuple[PoolQueues, Locks]]:
    """Opens the queues of pools, and the locks of those who fill them."""
    with _translate_bad_url():
        queue_client, lock_client = connect_without_retry(url), connect(url)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(queue_client.aclose)
        stack.push_async_callback(lock_client.aclose)
        yield RedisPoolQueues(queue_client), RedisLocks(lock_client)


async def ping(url: str) -> None:
    """Raises `CoordinationUnavailable` when no Redis answers at this URL."""
    with _translate_bad_url():
        client = connect(url)
    try:
        await redis_client.ping(client)
    finally:
        await client.aclose()


async def eviction_policy(url: str) -> str | None:
    """The setting `maxmemory-policy` of Redis; None if it does not tell, as some hosted ones."""
    with _translate_bad_url():
        client = connect(url)
    try:
        return await redis_client.eviction_policy(client)
    finally:
        await client.aclose()


@contextmanager
def _translate_bad_url() -> Iterator[None]:
    try:
        yield
    except ValueError:
        # Not the URL itself: there may be a password in it.
        raise BadSetting("redis: a URL of Redis looks like redis://host:6379/0") from None
