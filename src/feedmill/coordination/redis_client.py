"""Connects to Redis with short timeouts, and turns its errors into ours."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import RedisError

from feedmill.errors import CoordinationUnavailable
from feedmill.i18n.connection_errors import connection_message
from feedmill.i18n.messages import Message

RESPONSE_TIMEOUT = 1.0


def connect(url: str) -> Redis:
    """A client with short timeouts: it serves hints, and nobody should wait for them."""
    return Redis.from_url(
        url,
        decode_responses=True,
        socket_timeout=RESPONSE_TIMEOUT,
        socket_connect_timeout=RESPONSE_TIMEOUT,
        # Not after a timeout: a server that hangs once would hang again.
        retry=Retry(NoBackoff(), 1, supported_errors=(LostConnection,)),
    )


async def ping(client: Redis) -> None:
    """Raises `CoordinationUnavailable`, with the reason, when Redis does not answer."""
    try:
        await client.ping()
    except (RedisError, OSError) as error:
        raise CoordinationUnavailable(Message("redis.unusable", detail=_detail(error))) from error


async def eviction_policy(client: Redis) -> str | None:
    """What Redis does when its memory is full; None if it does not tell."""
    try:
        return dict(await client.config_get("maxmemory-policy")).get("maxmemory-policy")
    except (RedisError, OSError):
        return None


async def is_available(client: Redis) -> bool:
    """Whether Redis answers."""
    try:
        await ping(client)
    except CoordinationUnavailable:
        return False
    return True


async def count_messages(client: Redis, queues: Sequence[str]) -> Mapping[str, int]:
    """How many messages wait in each of these queues."""
    async with translate_redis_errors():
        return {queue: int(await client.llen(queue)) for queue in queues}


@asynccontextmanager
async def translate_redis_errors() -> AsyncIterator[None]:
    """Turns every error of Redis into `CoordinationUnavailable`."""
    try:
        yield
    except (RedisError, OSError) as error:
        raise CoordinationUnavailable(Message("redis.no_answer", detail=_detail(error))) from error


def _detail(error: Exception) -> Message | str:
    return connection_message(error) or str(error)
