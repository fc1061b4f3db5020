"""All that processes share through Redis, opened by its URL and closed again."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager

from feedmill.coordination.fallback import FallbackLotLocks, FallbackTurns
from feedmill.coordination.locks import Locks
from feedmill.coordination.queues import Queues
from feedmill.coordination.redis import RedisLocks, RedisTurns, answers, connect
from feedmill.coordination.redis_queues import RedisQueues, connect_once
from feedmill.coordination.redis_sight import RedisSight
from feedmill.coordination.together import Coordination
from feedmill.errors import BadSetting


@asynccontextmanager
async def opened_coordination(url: str) -> AsyncIterator[Coordination]:
    """Always so that its loss stops nothing."""
    with _readable_url():
        client = connect(url)
    turns, locks = FallbackTurns(RedisTurns(client)), FallbackLotLocks(RedisLocks(client))
    try:
        yield Coordination(turns, locks, RedisSight(client), lambda: answers(client))
    finally:
        await client.aclose()


@asynccontextmanager
async def opened_queues(url: str) -> AsyncIterator[tuple[Queues, Locks]]:
    """The lists of pools, and the locks of those who fill them."""
    with _readable_url():
        for_lists, for_locks = connect_once(url), connect(url)
    async with AsyncExitStack() as closing:
        closing.push_async_callback(for_lists.aclose)
        closing.push_async_callback(for_locks.aclose)
        yield RedisQueues(for_lists), RedisLocks(for_locks)


@contextmanager
def _readable_url() -> Iterator[None]:
    try:
        yield
    except ValueError:
        # Not the URL itself: there may be a password in it.
        raise BadSetting("redis: a URL of Redis looks like redis://host:6379/0") from None
