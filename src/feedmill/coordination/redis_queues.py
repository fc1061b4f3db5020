"""Pool lists in Redis: LPUSH by us, RPOP by whoever likes."""

from collections.abc import Sequence

import msgspec
import structlog
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from feedmill.coordination.queues import Filling, Queued, filling_lock, told_name
from feedmill.coordination.redis import translated

log = structlog.get_logger(__name__)

CONNECT_WITHIN = 1.0
# A lot of long texts takes longer than a lock.
ANSWER_WITHIN = 5.0
LOOK_AT = 500

# KEYS: the list, its lock. ARGV: the lock's owner, then the items. A filler that was too slow adds nothing.
PUSH = """
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
for i = 2, #ARGV do redis.call('LPUSH', KEYS[1], ARGV[i]) end
return 1
"""

# One text with an item a line: reading 500 answers one by one would take most of the time. JSON has no bare line feed.
POP = """
local taken = redis.call('RPOP', KEYS[1], ARGV[1])
return taken and table.concat(taken, '\\n') or ''
"""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Queued).decode
_decode_all = msgspec.json.Decoder(list[Queued]).decode


def connect_once(url: str) -> Redis:
    """A client that never sends a command twice: a second LPUSH would hand its items out twice."""
    return Redis.from_url(
        url, socket_timeout=ANSWER_WITHIN, socket_connect_timeout=CONNECT_WITHIN, retry=Retry(NoBackoff(), 0)
    )


class RedisQueues:
    """Lists for all processes and programs that share this Redis."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._push = client.register_script(PUSH)
        self._pop = client.register_script(POP)

    async def push(self, filling: Filling, items: Sequence[Queued]) -> bool:
        keys = [filling.name, filling_lock(filling.name)]
        async with translated():
            return bool(await self._push(keys=keys, args=[filling.owner, *map(_encode, items)]))

    async def pop(self, name: str, most: int) -> list[Queued]:
        async with translated():
            taken = await self._pop(keys=[name], args=[most])
        return _read_all(taken) if taken else []

    async def length(self, name: str) -> int:
        async with translated():
            return int(await self._client.llen(name))

    async def held(self, name: str) -> set[int]:
        ids: set[int] = set()
        start = 0
        async with translated():
            # From the end that items come in at: what moves on meanwhile is met twice rather than never.
            while part := await self._client.lrange(name, start, start + LOOK_AT - 1):
                ids |= {item.id for item in map(_read, part) if item is not None}
                start += LOOK_AT
        return ids

    async def told(self, name: str, most: int) -> list[int]:
        async with translated():
            told = await self._client.lrange(told_name(name), -most, -1)
        return [int(id) if id.isdigit() else 0 for id in reversed(told)]

    async def forget_told(self, name: str, count: int) -> None:
        async with translated():
            await self._client.ltrim(told_name(name), 0, -count - 1)

    async def drop(self, name: str) -> None:
        async with translated():
            await self._client.delete(name, told_name(name))


def _read_all(lines: bytes) -> list[Queued]:
    try:
        return _decode_all(b"[%b]" % lines.replace(b"\n", b","))
    except msgspec.DecodeError:
        return [item for item in map(_read, lines.split(b"\n")) if item is not None]


def _read(data: bytes | str) -> Queued | None:
    try:
        return _decode(data)
    except msgspec.DecodeError as error:
        log.warning("something that is no item was in a pool's list", data=data[:100], reason=str(error))
        return None
