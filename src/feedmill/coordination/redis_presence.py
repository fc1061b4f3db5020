"""Presence of processes in Redis, by Redis's clock."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta

from redis.asyncio import Redis

from feedmill.coordination.presence import PRESENCE_TIMEOUT, RunningProcess
from feedmill.coordination.redis import translate_redis_errors

PRESENCE_KEY = "feedmill:present"

# KEYS: the list of those present. ARGV: how long one is seen (ms), then who shows itself, if anybody does.
ANNOUNCE_AND_LIST = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[1]))
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], now, ARGV[i]) end
return redis.call('ZRANGE', KEYS[1], 0, -1)
"""

# KEYS: the list of those present. ARGV: how long one is seen (ms). Returns the time, then who and when by turns.
LIST_WITH_TIMES = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[1]))
return {now, redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')}
"""


class RedisPresence:
    """Those who show themselves stand in a list, with the time when they last did."""

    def __init__(self, client: Redis, seen_for: timedelta = PRESENCE_TIMEOUT) -> None:
        self._client = client
        self._look, self._see = client.register_script(ANNOUNCE_AND_LIST), client.register_script(LIST_WITH_TIMES)
        self._milliseconds = round(seen_for.total_seconds() * 1000)

    async def show(self, role: str, name: str) -> None:
        async with translate_redis_errors():
            await self._look(keys=[PRESENCE_KEY], args=[self._milliseconds, f"{role}/{name}"])

    async def leave(self, role: str, name: str) -> None:
        async with translate_redis_errors():
            await self._client.zrem(PRESENCE_KEY, f"{role}/{name}")

    async def present(self) -> Mapping[str, int]:
        async with translate_redis_errors():
            found = await self._look(keys=[PRESENCE_KEY], args=[self._milliseconds])
        return Counter(str(one).partition("/")[0] for one in found)

    async def seen(self) -> Sequence[RunningProcess]:
        async with translate_redis_errors():
            now, found = await self._see(keys=[PRESENCE_KEY], args=[self._milliseconds])
        places = [str(one).partition("/") for one in found[::2]]
        ages = [timedelta(milliseconds=now - float(at)) for at in found[1::2]]
        seen = [RunningProcess(role, name, ago) for (role, _, name), ago in zip(places, ages, strict=True)]
        return sorted(seen, key=lambda one: (one.role, one.name))

    async def waiting(self, queues: Sequence[str]) -> Mapping[str, int]:
        async with translate_redis_errors():
            return {queue: int(await self._client.llen(queue)) for queue in queues}
