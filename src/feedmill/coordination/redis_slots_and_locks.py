"""Host slots and locks in Redis, by the clock of Redis."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from redis.asyncio import Redis

from feedmill.coordination.host_slots import BUSY_WAIT, HostSlotRule
from feedmill.coordination.locks import LOCK_LENGTH
from feedmill.coordination.redis_client import translate_redis_errors

# KEYS: the host, then its pauses. ARGV: token, gap, hold, busy wait (ms). Returns ms to wait, 0 when taken.
TAKE = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local wait = 0
for i = 2, #KEYS do
  wait = math.max(wait, redis.call('PTTL', KEYS[i]))
end
local state = redis.call('HMGET', KEYS[1], 'next_at', 'token', 'held_until')
wait = math.max(wait, (tonumber(state[1]) or 0) - now)
if wait > 0 then return wait end
if state[2] and state[2] ~= '' and tonumber(state[3]) > now then return tonumber(ARGV[4]) end
local gap, hold = tonumber(ARGV[2]), tonumber(ARGV[3])
redis.call('HSET', KEYS[1], 'next_at', now + gap, 'token', ARGV[1], 'held_until', now + hold)
redis.call('PEXPIRE', KEYS[1], math.max(gap, hold, 1))
return 0
"""

FINISH = """
if redis.call('HGET', KEYS[1], 'token') == ARGV[1] then redis.call('HSET', KEYS[1], 'token', '') end
"""

PAUSE = """
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], '1', 'PX', ARGV[1]) end
"""

RENEW = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
"""

RELEASE = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
"""

# KEYS: the locks. ARGV: owner, length (ms).
HOLD = """
for _, key in ipairs(KEYS) do
  local owner = redis.call('GET', key)
  if not owner or owner == ARGV[1] then redis.call('SET', key, ARGV[1], 'PX', ARGV[2]) end
end
"""

RELEASE_ALL = """
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end
end
"""


def host_key(host: str) -> str:
    return f"ratelimit:domain:{host}"


def pause_key(name: str) -> str:
    return f"ratelimit:pause:{name}"


class RedisHostSlots:
    """Host slots for all processes that share this Redis."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._take = client.register_script(TAKE)
        self._finish = client.register_script(FINISH)
        self._pause = client.register_script(PAUSE)

    async def take(self, host: str, token: str, rule: HostSlotRule, pauses: Sequence[str] = ()) -> timedelta:
        keys = [host_key(host), *map(pause_key, pauses)]
        times = [_milliseconds(rule.gap), _milliseconds(rule.hold), _milliseconds(BUSY_WAIT)]
        async with translate_redis_errors():
            return timedelta(milliseconds=await self._take(keys=keys, args=[token, *times]))

    async def finish(self, host: str, token: str) -> None:
        async with translate_redis_errors():
            await self._finish(keys=[host_key(host)], args=[token])

    async def pause(self, name: str, length: timedelta) -> None:
        async with translate_redis_errors():
            await self._pause(keys=[pause_key(name)], args=[max(1, _milliseconds(length))])

    async def paused(self, names: Sequence[str]) -> Mapping[str, timedelta]:
        async with translate_redis_errors(), self._client.pipeline(transaction=False) as pipeline:
            for name in names:
                pipeline.pttl(pause_key(name))
            left = await pipeline.execute()
        return {name: timedelta(milliseconds=ms) for name, ms in zip(names, left, strict=True) if ms > 0}


class RedisLocks:
    """Locks for all processes that share this Redis."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._renew = client.register_script(RENEW)
        self._release = client.register_script(RELEASE)
        self._hold = client.register_script(HOLD)
        self._release_all = client.register_script(RELEASE_ALL)

    async def lock(self, name: str, owner: str, length: timedelta = LOCK_LENGTH) -> bool:
        async with translate_redis_errors():
            return bool(await self._client.set(name, owner, nx=True, px=_milliseconds(length)))

    async def renew(self, name: str, owner: str, length: timedelta = LOCK_LENGTH) -> bool:
        async with translate_redis_errors():
            return bool(await self._renew(keys=[name], args=[owner, _milliseconds(length)]))

    async def release(self, name: str, owner: str) -> bool:
        async with translate_redis_errors():
            return bool(await self._release(keys=[name], args=[owner]))

    async def hold(self, names: Sequence[str], owner: str, length: timedelta = LOCK_LENGTH) -> None:
        async with translate_redis_errors():
            await self._hold(keys=list(names), args=[owner, _milliseconds(length)])

    async def release_all(self, names: Sequence[str], owner: str) -> None:
        async with translate_redis_errors():
            await self._release_all(keys=list(names), args=[owner])

    async def holder(self, name: str) -> str | None:
        async with translate_redis_errors():
            owner = await self._client.get(name)
            return None if owner is None else str(owner)


def _milliseconds(length: timedelta) -> int:
    return round(length.total_seconds() * 1000)
