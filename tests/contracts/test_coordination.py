"""The contract of host slots and locks: in memory, in Redis, and while Redis is lost and comes back."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

import pytest
from redis.asyncio import Redis

from feedmill.coordination.fallback import FallbackBulkLocks, FallbackHostSlots
from feedmill.coordination.host_slots import BUSY_WAIT, HostSlotRule, HostSlots
from feedmill.coordination.locks import BulkLocks, Locks, feed_lock, schedule_lock
from feedmill.coordination.memory import MemoryHostSlots, MemoryLocks
from feedmill.coordination.redis_client import connect
from feedmill.coordination.redis_slots_and_locks import RedisHostSlots, RedisLocks
from feedmill.errors import CoordinationUnavailable
from tests.services.server import Service, end, find_binary, folder, free_port, launch, wait_for_port
from tests.waiting import until

NOW = timedelta(0)
MOMENT = timedelta(milliseconds=20)
HOUR = timedelta(hours=1)
# Longer than any test takes.
RULE = HostSlotRule(gap=HOUR, hold=2 * HOUR)
HOST = "feeds.example"


@pytest.fixture
async def redis(redis_service: Service) -> AsyncIterator[Redis]:
    client = connect(redis_service.url)
    await client.flushdb()
    yield client
    await client.aclose()


@pytest.fixture(params=["memory", "redis", "fallback"])
def turns(request: pytest.FixtureRequest) -> HostSlots:
    if request.param == "memory":
        return MemoryHostSlots()
    shared = RedisHostSlots(request.getfixturevalue("redis"))
    return shared if request.param == "redis" else FallbackHostSlots(shared)


@pytest.fixture(params=["memory", "redis"])
def locks(request: pytest.FixtureRequest) -> Locks:
    return MemoryLocks() if request.param == "memory" else RedisLocks(request.getfixturevalue("redis"))


async def until_taken(turns: HostSlots, pauses: Sequence[str] = ()) -> None:
    async def is_taken() -> bool:
        return await turns.take(HOST, "bob", RULE, pauses) == NOW

    await until(is_taken, otherwise="the host is not free")


async def until_free(locks: Locks, name: str) -> None:
    async def is_free() -> bool:
        return await locks.holder(name) is None

    await until(is_free, otherwise=f"{name} is still locked")


async def test_a_free_host_is_taken_at_once(turns: HostSlots) -> None:
    assert await turns.take(HOST, "alice", RULE) == NOW


async def test_a_held_host_is_not_given_again(turns: HostSlots) -> None:
    await turns.take(HOST, "alice", HostSlotRule(NOW, RULE.hold))

    assert await turns.take(HOST, "bob", RULE) == BUSY_WAIT


async def test_the_gap_counts_from_the_start(turns: HostSlots) -> None:
    async def a_moment_has_passed() -> bool:
        return await turns.take(HOST, "bob", RULE) <= RULE.gap - MOMENT

    await turns.take(HOST, "alice", RULE)
    await until(a_moment_has_passed)
    await turns.finish(HOST, "alice")

    assert NOW < await turns.take(HOST, "bob", RULE) <= RULE.gap - MOMENT


async def test_after_the_gap_a_finished_host_is_free(turns: HostSlots) -> None:
    await turns.take(HOST, "alice", HostSlotRule(MOMENT, RULE.hold))
    await turns.finish(HOST, "alice")

    await until_taken(turns)


async def test_hosts_do_not_wait_for_each_other(turns: HostSlots) -> None:
    await turns.take(HOST, "alice", RULE)

    assert await turns.take("other.example", "alice", RULE) == NOW


async def test_without_a_gap_a_finished_host_is_free_at_once(turns: HostSlots) -> None:
    rule = HostSlotRule(NOW, RULE.hold)
    await turns.take(HOST, "alice", rule)
    await turns.finish(HOST, "alice")

    assert await turns.take(HOST, "bob", rule) == NOW


@pytest.fixture(params=["memory", "redis", "fallback"])
def bulk_locks(request: pytest.FixtureRequest) -> tuple[BulkLocks, Locks]:
    """The locks as `BulkLocks` and as `Locks`."""
    if request.param == "memory":
        memory = MemoryLocks()
        return memory, memory
    shared = RedisLocks(request.getfixturevalue("redis"))
    return (shared if request.param == "redis" else FallbackBulkLocks(shared)), shared


async def test_a_chunk_holds_the_locks_that_are_free(bulk_locks: tuple[BulkLocks, Locks]) -> None:
    chunks, locks = bulk_locks
    await locks.lock("b", "bob")

    await chunks.hold(["a", "b", "c"], "alice")

    assert [await locks.holder(name) for name in "abc"] == ["alice", "bob", "alice"]


async def test_a_chunk_that_holds_its_locks_again_has_them_for_longer(bulk_locks: tuple[BulkLocks, Locks]) -> None:
    chunks, locks = bulk_locks
    await chunks.hold(["a", "not again"], "alice", MOMENT)

    await chunks.hold(["a"], "alice", HOUR)
    await until_free(locks, "not again")

    assert await locks.holder("a") == "alice"


async def test_a_chunk_gives_back_its_own_locks_only(bulk_locks: tuple[BulkLocks, Locks]) -> None:
    chunks, locks = bulk_locks
    await locks.lock("b", "bob")
    await chunks.hold(["a"], "alice")

    await chunks.release_all(["a", "b"], "alice")

    assert [await locks.holder(name) for name in "ab"] == [None, "bob"]


async def test_nobody_finishes_somebody_elses_turn(turns: HostSlots) -> None:
    await turns.take(HOST, "alice", HostSlotRule(NOW, RULE.hold))

    await turns.finish(HOST, "charlie")

    assert await turns.take(HOST, "bob", RULE) > NOW


async def test_a_turn_that_is_never_finished_ends_by_itself(turns: HostSlots) -> None:
    await turns.take(HOST, "crashed", HostSlotRule(NOW, MOMENT))

    await until_taken(turns)


async def test_of_many_who_ask_at_once_one_gets_the_turn(turns: HostSlots) -> None:
    waits = await asyncio.gather(*(turns.take(HOST, f"worker {number}", RULE) for number in range(20)))

    assert waits.count(NOW) == 1


async def test_a_pause_holds_for_all_who_name_it(turns: HostSlots) -> None:
    await turns.pause("domain:example", HOUR)

    wait = await turns.take(HOST, "alice", RULE, ["url:x", "domain:example"])

    assert timedelta(minutes=50) < wait <= HOUR
    assert await turns.take(HOST, "alice", RULE, ["url:x"]) == NOW


async def test_a_pause_ends(turns: HostSlots) -> None:
    await turns.pause("url:x", MOMENT)

    await until_taken(turns, ["url:x"])


async def test_a_shorter_pause_does_not_cut_a_longer_one(turns: HostSlots) -> None:
    async def the_shorter_is_over() -> bool:
        return not await turns.paused(["url:y"])

    await turns.pause("url:x", HOUR)
    for name in ("url:x", "url:y"):
        await turns.pause(name, MOMENT)
    await until(the_shorter_is_over)

    assert await turns.take(HOST, "alice", RULE, ["url:x"]) > timedelta(minutes=50)


async def test_the_rest_of_a_pause_is_reported(turns: HostSlots) -> None:
    await turns.pause("domain:example", HOUR)

    left = await turns.paused(["url:x", "domain:example"])

    assert set(left) == {"domain:example"}
    assert timedelta(minutes=50) < left["domain:example"] <= HOUR
    assert await turns.paused([]) == {}


async def test_a_lock_has_one_owner(locks: Locks) -> None:
    answers = await asyncio.gather(*(locks.lock("tasklock:feed:1", f"job {number}") for number in range(20)))

    assert answers.count(True) == 1
    assert await locks.holder("tasklock:feed:1") == f"job {answers.index(True)}"


async def test_only_the_owner_releases_a_lock(locks: Locks) -> None:
    await locks.lock("tasklock:feed:1", "alice")

    assert not await locks.release("tasklock:feed:1", "bob")
    assert not await locks.lock("tasklock:feed:1", "bob")
    assert await locks.release("tasklock:feed:1", "alice")
    assert await locks.holder("tasklock:feed:1") is None
    assert await locks.lock("tasklock:feed:1", "bob")


async def test_an_owner_who_was_too_slow_does_not_release_the_next_ones_lock(locks: Locks) -> None:
    await locks.lock("tasklock:feed:1", "slow", MOMENT)
    await until_free(locks, "tasklock:feed:1")
    await locks.lock("tasklock:feed:1", "next")

    assert not await locks.release("tasklock:feed:1", "slow")
    assert not await locks.renew("tasklock:feed:1", "slow")
    assert await locks.holder("tasklock:feed:1") == "next"


async def test_a_renewed_lock_lasts_as_long_as_it_was_renewed_for(locks: Locks) -> None:
    await locks.lock("tasklock:feed:1", "alice", HOUR)

    assert await locks.renew("tasklock:feed:1", "alice", MOMENT)

    await until_free(locks, "tasklock:feed:1")


async def test_a_lock_in_memory_that_is_renewed_lasts_longer_than_it_did() -> None:
    now = 0.0
    locks = MemoryLocks(lambda: now)
    await locks.lock("tasklock:feed:1", "alice", MOMENT)

    await locks.renew("tasklock:feed:1", "alice", HOUR)
    now = HOUR.total_seconds() - 1

    assert await locks.holder("tasklock:feed:1") == "alice"


async def test_a_lock_in_redis_that_is_renewed_lasts_longer_than_it_did(redis: Redis) -> None:
    locks = RedisLocks(redis)
    await locks.lock("tasklock:feed:1", "alice", timedelta(minutes=10))

    await locks.renew("tasklock:feed:1", "alice", HOUR)

    assert await redis.ttl("tasklock:feed:1") > 50 * 60


async def test_the_same_job_does_not_get_its_lock_twice(locks: Locks) -> None:
    assert await locks.lock("tasklock:feed:1", "alice")
    assert not await locks.lock("tasklock:feed:1", "alice")


async def test_the_names_and_lengths_in_redis_are_those_that_others_rely_on(redis: Redis) -> None:
    await RedisHostSlots(redis).take(HOST, "alice", RULE)
    await RedisLocks(redis).lock(feed_lock(7), "job-1")
    await RedisLocks(redis).lock(schedule_lock(7), "job-2")

    assert sorted(await redis.keys()) == ["ratelimit:domain:feeds.example", "tasklock:feed:7", "tasklock:schedule:7"]
    assert await redis.get("tasklock:feed:7") == "job-1"
    assert 120 < await redis.ttl("tasklock:feed:7") <= 180
    assert HOUR.total_seconds() < await redis.ttl("ratelimit:domain:feeds.example") <= RULE.hold.total_seconds()


async def test_two_processes_share_the_turns(redis: Redis) -> None:
    one, other = FallbackHostSlots(RedisHostSlots(redis)), FallbackHostSlots(RedisHostSlots(redis))

    assert await one.take(HOST, "alice", RULE) == NOW
    assert await other.take(HOST, "bob", RULE) > NOW


async def test_redis_forgetting_its_scripts_is_no_trouble(redis: Redis) -> None:
    turns = RedisHostSlots(redis)
    await turns.take(HOST, "alice", RULE)
    await redis.script_flush()

    await turns.finish(HOST, "alice")

    assert await turns.take("other.example", "alice", RULE) == NOW


async def test_without_redis_the_port_says_so_and_the_fallback_goes_on() -> None:
    client = connect(f"redis://127.0.0.1:{free_port()}/0")
    turns = FallbackHostSlots(RedisHostSlots(client))

    with pytest.raises(CoordinationUnavailable):
        await RedisHostSlots(client).take(HOST, "alice", RULE)
    assert await turns.take(HOST, "alice", RULE) == NOW
    assert await turns.take(HOST, "bob", RULE) > NOW
    await turns.pause("url:x", HOUR)
    assert await turns.take("other.example", "bob", RULE, ["url:x"]) > NOW
    await client.aclose()


@contextmanager
def redis_at(port: int) -> Iterator[None]:
    with folder("redis") as home:
        command = [find_binary("redis-server"), "--port", str(port), "--save", "", "--dir", str(home)]
        process = launch(command, home / "log")
        try:
            wait_for_port(port, process, home / "log")
            yield
        finally:
            end(process)


@pytest.mark.external
async def test_losing_redis_lets_nobody_ask_twice_in_a_row_and_its_return_is_noticed() -> None:
    now, port = 100.0, free_port()
    client = connect(f"redis://127.0.0.1:{port}/0")
    turns = FallbackHostSlots(RedisHostSlots(client), clock=lambda: now, retry_after=5)

    with redis_at(port):
        assert await turns.take(HOST, "alice", RULE) == NOW
    assert await turns.take(HOST, "bob", RULE) > NOW
    with redis_at(port):
        now += 2 * RULE.hold.total_seconds()
        assert await turns.take(HOST, "bob", RULE) == NOW
        assert await client.exists("ratelimit:domain:feeds.example")
        await client.aclose()
