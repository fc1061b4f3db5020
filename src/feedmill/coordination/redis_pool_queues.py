"""Pool queues in Redis: we LPUSH, any program may RPOP."""

from collections.abc import Sequence

import msgspec
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from feedmill.coordination.pool_queues import FillLock, QueuedItem, fill_lock_name, used_ids_name
from feedmill.coordination.redis_client import translate_redis_errors
from feedmill.lazy_loggers import get_logger

log = get_logger(__name__)

CONNECT_TIMEOUT = 1.0
# Longer than for locks, because a chunk of long texts takes time.
RESPONSE_TIMEOUT = 5.0
READ_CHUNK = 500

# KEYS: the list, its lock. ARGV: the lock's owner, then the items. A filler that was too slow adds nothing.
PUSH = """
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
for i = 2, #ARGV do redis.call('LPUSH', KEYS[1], ARGV[i]) end
return 1
"""

# One string with an item per line: parsing 500 replies would take most of the time. JSON has no bare line feed.
POP = """
local taken = redis.call('RPOP', KEYS[1], ARGV[1])
return taken and table.concat(taken, '\\n') or ''
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

    async def push(self, filling: FillLock, items: Sequence[QueuedItem]) -> bool:
        keys = [filling.name, fill_lock_name(filling.name)]
        async with translate_redis_errors():
            return bool(await self._push(keys=keys, args=[filling.owner, *map(_encode, items)]))

    async def pop(self, name: str, limit: int) -> list[QueuedItem]:
        async with translate_redis_errors():
            taken = await self._pop(keys=[name], args=[limit])
        return _read_all(taken) if taken else []

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
            await self._client.delete(name, used_ids_name(name))


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
