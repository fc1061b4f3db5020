"""The contract of pool queues, and their format for other programs."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from redis.asyncio import Redis

from feedmill.coordination.pool_queues import (
    FILL_LOCK_LENGTH,
    FillLock,
    ListObservation,
    PoolQueues,
    QueuedItem,
    fill_lock_name,
    list_state_name,
    pool_list_name,
    used_ids_name,
)
from feedmill.coordination.redis_client import connect
from feedmill.coordination.redis_pool_queues import RedisPoolQueues, connect_without_retry
from feedmill.coordination.redis_slots_and_locks import RedisLocks
from feedmill.errors import CoordinationUnavailable
from tests.services.server import Service, free_port
from tests.waiting import LONGEST_WAIT

NAME = pool_list_name("titles", 7)
OURS = FillLock(NAME, "filler 1", "first")


@pytest.fixture
async def redis(redis_service: Service) -> AsyncIterator[Redis]:
    client = connect(redis_service.url)
    await client.flushdb()
    yield client
    await client.aclose()


@pytest.fixture(params=["redis"])
async def queues(request: pytest.FixtureRequest, redis_service: Service, redis: Redis) -> AsyncIterator[PoolQueues]:
    client = connect_without_retry(redis_service.url)
    await redis.set(fill_lock_name(NAME), OURS.owner)
    queues = RedisPoolQueues(client)
    await queues.start(OURS)
    yield queues
    await client.aclose()


def numbered(*ids: int) -> list[QueuedItem]:
    return [QueuedItem(id, f"text {id}") for id in ids]


async def test_what_goes_in_first_comes_out_first(queues: PoolQueues) -> None:
    await queues.push(OURS, numbered(1, 2, 3))
    await queues.push(OURS, numbered(4))

    assert await queues.pop(NAME, 2) == numbered(1, 2)
    assert await queues.length(NAME) == 2
    assert await queues.pop(NAME, 10) == numbered(3, 4)
    assert await queues.pop(NAME, 10) == []


async def test_of_many_who_pop_at_once_each_gets_its_own(queues: PoolQueues) -> None:
    await queues.push(OURS, numbered(*range(100)))

    popped = await asyncio.gather(*(queues.pop(NAME, 7) for _ in range(20)))

    assert sorted(item.id for some in popped for item in some) == list(range(100))


async def test_a_filler_that_lost_its_lock_adds_nothing(queues: PoolQueues) -> None:
    assert not await queues.push(FillLock(NAME, "filler 2"), numbered(1))

    assert await queues.length(NAME) == 0


async def test_a_filler_whose_list_was_lost_adds_nothing(queues: PoolQueues, redis: Redis) -> None:
    await redis.delete(NAME, list_state_name(NAME))

    assert not await queues.push(OURS, numbered(1))
    assert await queues.start(replace(OURS, life="second"))
    assert not await queues.push(OURS, numbered(1))

    assert await queues.push(replace(OURS, life="second"), numbered(1))


async def test_a_list_is_started_only_with_the_lock(queues: PoolQueues) -> None:
    assert not await queues.start(FillLock(NAME, "filler 2", "second"))

    assert (await queues.observe(NAME)).life == "first"


async def test_items_that_were_put_back_are_popped_next_in_their_order(queues: PoolQueues) -> None:
    await queues.push(OURS, numbered(1, 2, 3))

    await queues.put_back(NAME, await queues.pop(NAME, 2))

    assert await queues.pop(NAME, 3) == numbered(1, 2, 3)


async def test_items_that_others_take_are_counted_until_they_are_forgotten(queues: PoolQueues, redis: Redis) -> None:
    await queues.push(OURS, numbered(*range(10)))
    await queues.put_back(NAME, await queues.pop(NAME, 4))
    await queues.pop(NAME, 2)
    assert await queues.observe(NAME) == ListObservation("first", 8, 0)

    await redis.rpop(NAME, 3)
    await redis.lpop(NAME)
    await queues.pop(NAME, 1)

    assert await queues.observe(NAME) == ListObservation("first", 3, 4)
    await queues.forget_taken_by_others(NAME, 4)
    assert await queues.observe(NAME) == ListObservation("first", 3, 0)


async def test_items_that_others_add_do_not_hide_what_others_take(queues: PoolQueues, redis: Redis) -> None:
    await queues.push(OURS, numbered(1))
    await redis.lpush(NAME, '{"id": 2, "text": "x"}')
    await queues.observe(NAME)

    await redis.rpop(NAME, 2)

    assert await queues.observe(NAME) == ListObservation("first", 0, 2)


async def test_a_wiped_list_has_no_token(queues: PoolQueues, redis: Redis) -> None:
    await queues.push(OURS, numbered(1))
    await redis.flushdb()

    assert await queues.observe(NAME) == ListObservation(None, 0, 0)


async def test_all_ids_in_a_list_are_told_however_many(queues: PoolQueues) -> None:
    for start in range(0, 1300, 500):
        await queues.push(OURS, numbered(*range(start, min(start + 500, 1300))))

    assert await queues.queued_ids(NAME) == set(range(1300))


async def test_reported_ids_stay_until_they_are_forgotten(queues: PoolQueues, redis: Redis) -> None:
    await redis.lpush(used_ids_name(NAME), "5", "6", "nonsense", "7")

    assert await queues.reported_used(NAME, 3) == [5, 6, 0]
    await queues.forget_used(NAME, 3)

    assert await queues.reported_used(NAME, 3) == [7]


async def test_a_dropped_list_is_gone(queues: PoolQueues, redis: Redis) -> None:
    await queues.push(OURS, numbered(1))
    await redis.lpush(used_ids_name(NAME), "1")

    await queues.drop(NAME)

    assert await redis.keys() == [fill_lock_name(NAME)]


async def test_what_is_no_item_is_passed_over(queues: PoolQueues, redis: Redis) -> None:
    await redis.lpush(NAME, "not json", '{"text": "no id"}', '{"id": 3, "text": "x", "more": 1}')

    assert await queues.pop(NAME, 10) == [QueuedItem(3, "x")]


async def test_the_list_is_what_other_programs_rely_on(queues: PoolQueues, redis: Redis) -> None:
    await redis.delete(fill_lock_name(NAME))
    await RedisLocks(redis).lock(fill_lock_name(NAME), OURS.owner, FILL_LOCK_LENGTH)
    await queues.push(OURS, [QueuedItem(12345, "这是标题"), QueuedItem(12346, "", "/api/pools/items/12346")])

    assert sorted(await redis.keys()) == ["titles:pool:7", "titles:pool:7:filling", "titles:pool:7:state"]
    assert 30 < await redis.ttl("titles:pool:7:filling") <= 60
    assert await redis.rpop("titles:pool:7") == '{"id":12345,"text":"这是标题"}'
    assert await redis.rpop("titles:pool:7") == '{"id":12346,"text":"","ref":"/api/pools/items/12346"}'


async def test_a_list_that_does_not_answer_says_so() -> None:
    client = connect_without_retry(f"redis://127.0.0.1:{free_port()}/0")
    queues = RedisPoolQueues(client)

    for asked in (queues.length(NAME), queues.pop(NAME, 1), queues.push(OURS, numbered(1)), queues.queued_ids(NAME)):
        with pytest.raises(CoordinationUnavailable):
            await asked
    await client.aclose()


async def test_a_push_that_is_not_answered_is_not_sent_again() -> None:
    """Otherwise its items would be in the list twice."""
    asked: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if b"EVALSHA" in data:
                asked.append(data)
                writer.close()
                return
            writer.write(b"+OK\r\n" * data.count(b"*"))

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    client = connect_without_retry(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0?protocol=2")
    async with server, asyncio.timeout(LONGEST_WAIT):
        with pytest.raises(CoordinationUnavailable):
            await RedisPoolQueues(client).push(OURS, numbered(1))
        await client.aclose()

    assert len(asked) == 1
