"""Sight of all processes that share a Redis, by Redis's clock."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta

from redis.asyncio import Redis

from feedmill.coordination.redis import translated
from feedmill.coordination.sight import SEEN_FOR

PRESENT = "feedmill:present"

# KEYS: the list of those present. ARGV: how long one is seen (ms), then who shows itself, if anybody does.
LOOK = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[1]))
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], now, ARGV[i]) end
return redis.call('ZRANGE', KEYS[1], 0, -1)
"""


class RedisSight:
    """Those who show themselves stand in a list, with the time when they last did."""

    def __init__(self, client: Redis, seen_for: timedelta = SEEN_FOR) -> None:
        self._client = client
        self._look = client.register_script(LOOK)
        self._milliseconds = round(seen_for.total_seconds() * 1000)

    async def show(self, role: str, name: str) -> None:
        async with translated():
            await self._look(keys=[PRESENT], args=[self._milliseconds, f"{role}/{name}"])

    async def leave(self, role: str, name: str) -> None:
        async with translated():
            await self._client.zrem(PRESENT, f"{role}/{name}")

    async def present(self) -> Mapping[str, int]:
        async with translated():
            found = await self._look(keys=[PRESENT], args=[self._milliseconds])
        return Counter(str(one).partition("/")[0] for one in found)

    async def waiting(self, queues: Sequence[str]) -> Mapping[str, int]:
        async with translated():
            return {queue: int(await self._client.llen(queue)) for queue in queues}
