"""Opens coordination between processes: through Redis if it is configured, else in memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from feedmill.coordination.coordination import Coordination
from feedmill.coordination.memory import MemoryHostSlots, MemoryLocks, NoPresence, count_no_messages
from feedmill.optional_imports import import_by_name
from feedmill.settings import Settings

REDIS_COORDINATION = "feedmill.coordination.connect_redis:connect_coordination"
REDIS_PING = "feedmill.coordination.connect_redis:ping"
REDIS_EVICTION_POLICY = "feedmill.coordination.connect_redis:eviction_policy"


@asynccontextmanager
async def connect_coordination(settings: Settings) -> AsyncIterator[Coordination]:
    """Opens coordination through Redis if it is configured, else in memory."""
    url = settings.redis.get_secret_value()
    if not url:
        yield Coordination(MemoryHostSlots(), MemoryLocks(), NoPresence(), count_no_messages, _always)
        return
    async with import_by_name(REDIS_COORDINATION)(url) as coordination:
        yield coordination


async def ping_redis(settings: Settings) -> None:
    """Pings the configured Redis; raises `CoordinationUnavailable` if it does not answer."""
    await import_by_name(REDIS_PING)(settings.redis.get_secret_value())


async def redis_eviction_policy(settings: Settings) -> str | None:
    """What the configured Redis does when its memory is full; None if it does not tell."""
    policy: str | None = await import_by_name(REDIS_EVICTION_POLICY)(settings.redis.get_secret_value())
    return policy


async def _always() -> bool:
    return True
