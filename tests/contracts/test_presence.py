"""The contract of presence, in Redis and for a single process."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from redis.asyncio import Redis

from feedmill.coordination.memory import NoPresence
from feedmill.coordination.presence import PRESENCE_TIMEOUT, Presence
from feedmill.coordination.redis_client import connect, count_messages
from feedmill.coordination.redis_presence import RedisPresence
from feedmill.errors import CoordinationUnavailable
from tests.services.server import Service, free_port
from tests.waiting import until


@pytest.fixture
async def redis(redis_service: Service) -> AsyncIterator[Redis]:
    client = connect(redis_service.url)
    await client.flushdb()
    yield client
    await client.aclose()


@pytest.fixture(params=["alone", "redis"])
def presence(request: pytest.FixtureRequest) -> Presence:
    return NoPresence() if request.param == "alone" else RedisPresence(request.getfixturevalue("redis"))


async def test_nobody_is_seen_who_has_not_shown_itself(presence: Presence) -> None:
    assert await presence.count_by_role() == {}
    assert await presence.processes() == []


async def test_leaving_does_no_harm_to_those_who_were_never_there(presence: Presence) -> None:
    await presence.withdraw("worker", "alice:1")

    assert await presence.count_by_role() == {}


async def test_processes_are_counted_by_role_and_once_each(redis: Redis) -> None:
    alice, bob = RedisPresence(redis), RedisPresence(redis)
    await alice.announce("worker", "alice:1")
    await alice.announce("worker", "alice:1")
    await alice.announce("scheduler", "alice:2")
    await bob.announce("worker", "bob:1")

    assert await alice.count_by_role() == await bob.count_by_role() == {"worker": 2, "scheduler": 1}


async def test_each_process_is_named_with_when_it_last_showed_itself(redis: Redis) -> None:
    presence = RedisPresence(redis)
    await presence.announce("worker", "bob:1")
    await presence.announce("scheduler", "alice:2")

    seen = await presence.processes()

    assert [(one.role, one.name) for one in seen] == [("scheduler", "alice:2"), ("worker", "bob:1")]
    assert all(timedelta(0) <= one.ago < PRESENCE_TIMEOUT for one in seen)


async def test_one_that_left_is_not_seen(redis: Redis) -> None:
    presence = RedisPresence(redis)
    await presence.announce("worker", "alice:1")

    await presence.withdraw("worker", "alice:1")

    assert await presence.count_by_role() == {}


async def test_one_that_was_killed_is_not_seen_for_long(redis: Redis) -> None:
    presence = RedisPresence(redis, timeout=timedelta(milliseconds=50))
    await presence.announce("worker", "alice:1")

    async def nobody_is_seen() -> bool:
        return await presence.count_by_role() == {}

    await until(nobody_is_seen)


async def test_what_waits_is_counted_by_queue(redis: Redis) -> None:
    await redis.lpush("high", "a message")

    assert await count_messages(redis, ["high", "default"]) == {"high": 1, "default": 0}


async def test_without_redis_it_is_said_that_nothing_can_be_seen() -> None:
    client = connect(f"redis://127.0.0.1:{free_port()}/0")
    presence = RedisPresence(client)

    calls = [presence.count_by_role(), count_messages(client, ["high"]), presence.announce("worker", "alice:1")]
    for call in calls:
        with pytest.raises(CoordinationUnavailable):
            await call
    await client.aclose()
