"""Opens coordination between processes: through Redis if it is configured, else in memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from feedmill.coordination.coordination import Coordination
from feedmill.coordination.memory import MemoryHostSlots, MemoryLocks, NoPresence
from feedmill.lazy_imports import lazy_import
from feedmill.settings import Settings

REDIS_COORDINATION = "feedmill.coordination.connect_redis:connect_coordination"
REDIS_PING = "feedmill.coordination.connect_redis:ping"


@asynccontextmanager
async def connect_coordination(settings: Settings) -> AsyncIterator[Coordination]:
    """Opens coordination through Redis if it is configured, else in memory."""
    url = settings.redis.get_secret_value()
    if not url:
        yield Coordination(MemoryHostSlots(), MemoryLocks(), NoPresence(), _always)
        return
    async with lazy_import(REDIS_COORDINATION)(url) as coordination:
        yield coordination


async def ping_redis(settings: Settings) -> None:
    """Pings the configured Redis; raises `CoordinationUnavailable` if it does not answer."""
    await lazy_import(REDIS_PING)(settings.redis.get_secret_value())


async def _always() -> bool:
    return True
