"""Pool queues in Redis: we LPUSH, any program may RPOP."""

from collections.abc import Sequence

import msgspec
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from feedmill.coordination.pool_queues import (
    FillLock,
    ListObservation,
    QueuedItem,
    fill_lock_name,
    list_state_name,
    used_ids_name,
)
from feedmill.coordination.redis_client import translate_redis_errors
from feedmill.lazy_loggers import get_logger

log = get_logger(__name__)

CONNECT_TIMEOUT = 1.0
# Longer than for locks, because a chunk of long texts takes time.
RESPONSE_TIMEOUT = 5.0
READ_CHUNK = 500

# KEYS of all scripts: the list, its state, its lock. The field `expected` of the state is the length that the list has
# if nobody else takes from it.

# ARGV: the lock's owner, the list's life, then the items. Adds none for a filler that was too slow or lost its list.
PUSH = """
if redis.call('GET', KEYS[3]) ~= ARGV[1] or redis.call('HGET', KEYS[2], 'life') ~= ARGV[2] then return 0 end
for i = 3, #ARGV do redis.call('LPUSH', KEYS[1], ARGV[i]) end
redis.call('HINCRBY', KEYS[2], 'expected', #ARGV - 2)
return 1
"""

# One string with an item per line: parsing 500 replies would take most of the time. JSON has no bare line feed.
POP = """
local taken = redis.call('RPOP', KEYS[1], ARGV[1])
if not taken then return '' end
redis.call('HINCRBY', KEYS[2], 'expected', -#taken)
return table.concat(taken, '\\n')
"""

PUT_BACK = """
for i = #ARGV, 1, -1 do redis.call('RPUSH', KEYS[1], ARGV[i]) end
redis.call('HINCRBY', KEYS[2], 'expected', #ARGV)
"""

# ARGV: the lock's owner, the list's life.
START = """
if redis.call('GET', KEYS[3]) ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[2], 'life', ARGV[2], 'expected', redis.call('LLEN', KEYS[1]))
return 1
"""

# A list that is longer than expected has items of somebody else, which must not hide that others take from it.
OBSERVE = """
local length = redis.call('LLEN', KEYS[1])
local state = redis.call('HMGET', KEYS[2], 'life', 'expected')
local expected = tonumber(state[2] or 0)
if state[1] and length > expected then redis.call('HSET', KEYS[2], 'expected', length) end
return {state[1] or '', length, math.max(0, expected - length)}
"""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(QueuedItem).decode
_decode_all = msgspec.json.Decoder(list[QueuedItem]).decode


def connect_without_retry(url: str) -> Redis:
    """A client that never sends a command twice: a second LPUSH would hand its items out twice."""
    return Redis.from_url(
        url, socket_timeout=RESPONSE_TIMEOUT, socket_connect_timeout=CONNECT_TIMEOUT, retry=Retry(NoBackoff(), 0)
    )


class RedisPoolQueues:
    """Lists for all processes and programs that share this Redis."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._push = client.register_script(PUSH)
        self._pop = client.register_script(POP)
        self._put_back = client.register_script(PUT_BACK)
        self._start = client.register_script(START)
        self._observe = client.register_script(OBSERVE)

    async def push(self, filling: FillLock, items: Sequence[QueuedItem]) -> bool:
        async with translate_redis_errors():
            args: list[str | bytes] = [filling.owner, filling.life, *map(_encode, items)]
            return bool(await self._push(keys=_keys(filling.name), args=args))

    async def pop(self, name: str, limit: int) -> list[QueuedItem]:
        async with translate_redis_errors():
            taken = await self._pop(keys=_keys(name), args=[limit])
        return _read_all(taken) if taken else []

    async def put_back(self, name: str, items: Sequence[QueuedItem]) -> None:
        async with translate_redis_errors():
            await self._put_back(keys=_keys(name), args=[*map(_encode, items)])

    async def start(self, filling: FillLock) -> bool:
        async with translate_redis_errors():
            return bool(await self._start(keys=_keys(filling.name), args=[filling.owner, filling.life]))

    async def observe(self, name: str) -> ListObservation:
        async with translate_redis_errors():
            life, length, taken = await self._observe(keys=_keys(name))
        return ListObservation(life.decode() or None, length, taken)

    async def forget_taken_by_others(self, name: str, count: int) -> None:
        async with translate_redis_errors():
            await self._client.hincrby(list_state_name(name), "expected", -count)

    async def length(self, name: str) -> int:
        async with translate_redis_errors():
            return int(await self._client.llen(name))

    async def queued_ids(self, name: str) -> set[int]:
        ids: set[int] = set()
        start = 0
        async with translate_redis_errors():
            # From the end at which items are added: an item that moves in the meantime is read twice rather than never.
            while part := await self._client.lrange(name, start, start + READ_CHUNK - 1):
                ids |= {item.id for item in map(_read, part) if item is not None}
                start += READ_CHUNK
        return ids

    async def reported_used(self, name: str, limit: int) -> list[int]:
        async with translate_redis_errors():
            reported_used = await self._client.lrange(used_ids_name(name), -limit, -1)
        return [int(id) if id.isdigit() else 0 for id in reversed(reported_used)]

    async def forget_used(self, name: str, count: int) -> None:
        async with translate_redis_errors():
            await self._client.ltrim(used_ids_name(name), 0, -count - 1)

    async def drop(self, name: str) -> None:
        async with translate_redis_errors():
            await self._client.delete(name, used_ids_name(name), list_state_name(name))


def _keys(name: str) -> list[str]:
    return [name, list_state_name(name), fill_lock_name(name)]


def _read_all(lines: bytes) -> list[QueuedItem]:
    try:
        return _decode_all(b"[%b]" % lines.replace(b"\n", b","))
    except msgspec.DecodeError:
        return [item for item in map(_read, lines.split(b"\n")) if item is not None]


def _read(data: bytes | str) -> QueuedItem | None:
    try:
        return _decode(data)
    except msgspec.DecodeError as error:
        log.warning("pool_list_item_invalid", data=data[:100], reason=str(error))
        return None
