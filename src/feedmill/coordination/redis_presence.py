"""Presence of processes in Redis, by Redis's clock."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta

from redis.asyncio import Redis

from feedmill.coordination.presence import PRESENCE_TIMEOUT, RunningProcess
from feedmill.coordination.redis_client import translate_redis_errors

PRESENCE_KEY = "feedmill:present"

# KEYS: the processes. ARGV: how long one is shown (ms), then the process to announce, if any.
ANNOUNCE_AND_LIST = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[1]))
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], now, ARGV[i]) end
return redis.call('ZRANGE', KEYS[1], 0, -1)
"""

# KEYS: the processes. ARGV: how long one is shown (ms). Returns the time, then process and time alternately.
LIST_WITH_TIMES = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[1]))
return {now, redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')}
"""


class RedisPresence:
    """A sorted set of processes, scored by the time of their last announcement."""

    def __init__(self, client: Redis, timeout: timedelta = PRESENCE_TIMEOUT) -> None:
        self._client = client
        self._announce_and_list, self._list_with_times = (
            client.register_script(ANNOUNCE_AND_LIST),
            client.register_script(LIST_WITH_TIMES),
        )
        self._milliseconds = round(timeout.total_seconds() * 1000)

    async def announce(self, role: str, name: str) -> None:
        async with translate_redis_errors():
            await self._announce_and_list(keys=[PRESENCE_KEY], args=[self._milliseconds, f"{role}/{name}"])

    async def withdraw(self, role: str, name: str) -> None:
        async with translate_redis_errors():
            await self._client.zrem(PRESENCE_KEY, f"{role}/{name}")

    async def count_by_role(self) -> Mapping[str, int]:
        async with translate_redis_errors():
            found = await self._announce_and_list(keys=[PRESENCE_KEY], args=[self._milliseconds])
        return Counter(str(process).partition("/")[0] for process in found)

    async def processes(self) -> Sequence[RunningProcess]:
        async with translate_redis_errors():
            now, found = await self._list_with_times(keys=[PRESENCE_KEY], args=[self._milliseconds])
        names = [str(process).partition("/") for process in found[::2]]
        ages = [timedelta(milliseconds=now - float(at)) for at in found[1::2]]
        seen = [RunningProcess(role, name, ago) for (role, _, name), ago in zip(names, ages, strict=True)]
        return sorted(seen, key=lambda process: (process.role, process.name))
