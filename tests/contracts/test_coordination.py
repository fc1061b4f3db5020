"""Turns and locks keep their promises in memory, in Redis, and while Redis comes and goes."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from redis.asyncio import Redis

from feedmill.coordination.fallback import FallbackLotLocks, FallbackTurns
from feedmill.coordination.locks import Locks, LotLocks, feed_lock, schedule_lock
from feedmill.coordination.memory import MemoryLocks, MemoryTurns
from feedmill.coordination.redis import RedisLocks, RedisTurns, connect
from feedmill.coordination.turns import TurnRule, Turns
from feedmill.errors import CoordinationUnavailable
from tests.services.server import Service, end, find_binary, folder, free_port, launch, wait_for_port

NOW = timedelta(0)
RULE = TurnRule(gap=timedelta(milliseconds=150), hold=timedelta(seconds=5))
HOST = "feeds.example"


@pytest.fixture
async def redis(redis_service: Service) -> AsyncIterator[Redis]:
    client = connect(redis_service.url)
    await client.flushdb()
    yield client
    await client.aclose()


@pytest.fixture(params=["memory", "redis", "fallback"])
def turns(request: pytest.FixtureRequest) -> Turns:
    if request.param == "memory":
        return MemoryTurns()
    shared = RedisTurns(request.getfixturevalue("redis"))
    return shared if request.param == "redis" else FallbackTurns(shared)


@pytest.fixture(params=["memory", "redis"])
def locks(request: pytest.FixtureRequest) -> Locks:
    return MemoryLocks() if request.param == "memory" else RedisLocks(request.getfixturevalue("redis"))


async def test_a_free_host_is_taken_at_once(turns: Turns) -> None:
    assert await turns.take(HOST, "alice", RULE) == NOW


async def test_a_held_host_is_not_given_again(turns: Turns) -> None:
    await turns.take(HOST, "alice", RULE)
    await asyncio.sleep(0.2)

    wait = await turns.take(HOST, "bob", RULE)

    assert NOW < wait <= RULE.gap


async def test_the_gap_counts_from_the_start(turns: Turns) -> None:
    await turns.take(HOST, "alice", RULE)
    await turns.finish(HOST, "alice")

    wait = await turns.take(HOST, "bob", RULE)
    await asyncio.sleep(wait.total_seconds() + 0.005)

    assert timedelta(milliseconds=50) < wait <= RULE.gap
    assert await turns.take(HOST, "bob", RULE) == NOW


async def test_hosts_do_not_wait_for_each_other(turns: Turns) -> None:
    await turns.take(HOST, "alice", RULE)

    assert await turns.take("other.example", "alice", RULE) == NOW


async def test_without_a_gap_a_finished_host_is_free_at_once(turns: Turns) -> None:
    rule = TurnRule(NOW, RULE.hold)
    await turns.take(HOST, "alice", rule)
    await turns.finish(HOST, "alice")

    assert await turns.take(HOST, "bob", rule) == NOW


@pytest.fixture(params=["memory", "redis", "fallback"])
def lot_locks(request: pytest.FixtureRequest) -> tuple[LotLocks, Locks]:
    """The locks of a lot, and the same locks one by one."""
    if request.param == "memory":
        memory = MemoryLocks()
        return memory, memory
    shared = RedisLocks(request.getfixturevalue("redis"))
    return (shared if request.param == "redis" else FallbackLotLocks(shared)), shared


async def test_a_lot_holds_the_locks_that_are_free(lot_locks: tuple[LotLocks, Locks]) -> None:
    lots, locks = lot_locks
    await locks.lock("b", "bob")

    await lots.hold(["a", "b", "c"], "alice")

    assert [await locks.holder(name) for name in "abc"] == ["alice", "bob", "alice"]


async def test_a_lot_that_holds_its_locks_again_has_them_for_longer(lot_locks: tuple[LotLocks, Locks]) -> None:
    lots, locks = lot_locks
    await lots.hold(["a"], "alice", timedelta(milliseconds=150))

    await lots.hold(["a"], "alice", timedelta(seconds=10))
    await asyncio.sleep(0.2)

    assert await locks.holder("a") == "alice"


async def test_a_lot_gives_back_its_own_locks_only(lot_locks: tuple[LotLocks, Locks]) -> None:
    lots, locks = lot_locks
    await locks.lock("b", "bob")
    await lots.hold(["a"], "alice")

    await lots.let_go(["a", "b"], "alice")

    assert [await locks.holder(name) for name in "ab"] == [None, "bob"]


async def test_nobody_finishes_somebody_elses_turn(turns: Turns) -> None:
    await turns.take(HOST, "alice", TurnRule(NOW, RULE.hold))

    await turns.finish(HOST, "charlie")

    assert await turns.take(HOST, "bob", RULE) > NOW


async def test_a_turn_that_is_never_finished_ends_by_itself(turns: Turns) -> None:
    await turns.take(HOST, "crashed", TurnRule(NOW, timedelta(milliseconds=100)))
    await asyncio.sleep(0.12)

    assert await turns.take(HOST, "bob", RULE) == NOW


async def test_of_many_who_ask_at_once_one_gets_the_turn(turns: Turns) -> None:
    waits = await asyncio.gather(*(turns.take(HOST, f"worker {number}", RULE) for number in range(20)))

    assert waits.count(NOW) == 1


async def test_a_pause_holds_for_all_who_name_it(turns: Turns) -> None:
    await turns.pause("domain:example", timedelta(hours=1))

    wait = await turns.take(HOST, "alice", RULE, ["url:x", "domain:example"])

    assert timedelta(minutes=59) < wait <= timedelta(hours=1)
    assert await turns.take(HOST, "alice", RULE, ["url:x"]) == NOW


async def test_a_pause_ends(turns: Turns) -> None:
    await turns.pause("url:x", timedelta(milliseconds=50))
    await asyncio.sleep(0.06)

    assert await turns.take(HOST, "alice", RULE, ["url:x"]) == NOW


async def test_a_shorter_pause_does_not_cut_a_longer_one(turns: Turns) -> None:
    await turns.pause("url:x", timedelta(hours=1))
    await turns.pause("url:x", timedelta(milliseconds=1))
    await asyncio.sleep(0.01)

    assert await turns.take(HOST, "alice", RULE, ["url:x"]) > timedelta(minutes=59)


async def test_it_is_told_how_long_a_pause_still_lasts(turns: Turns) -> None:
    await turns.pause("domain:example", timedelta(hours=1))

    left = await turns.paused(["url:x", "domain:example"])

    assert set(left) == {"domain:example"}
    assert timedelta(minutes=59) < left["domain:example"] <= timedelta(hours=1)
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
    await locks.lock("tasklock:feed:1", "slow", timedelta(milliseconds=30))
    await asyncio.sleep(0.05)
    await locks.lock("tasklock:feed:1", "next")

    assert not await locks.release("tasklock:feed:1", "slow")
    assert not await locks.renew("tasklock:feed:1", "slow")
    assert await locks.holder("tasklock:feed:1") == "next"


async def test_a_renewed_lock_lasts(locks: Locks) -> None:
    await locks.lock("tasklock:feed:1", "alice", timedelta(milliseconds=100))

    assert await locks.renew("tasklock:feed:1", "alice", timedelta(seconds=5))
    await asyncio.sleep(0.12)

    assert await locks.holder("tasklock:feed:1") == "alice"


async def test_the_same_job_does_not_get_its_lock_twice(locks: Locks) -> None:
    assert await locks.lock("tasklock:feed:1", "alice")
    assert not await locks.lock("tasklock:feed:1", "alice")


async def test_the_names_and_lengths_in_redis_are_those_that_others_rely_on(redis: Redis) -> None:
    await RedisTurns(redis).take(HOST, "alice", RULE)
    await RedisLocks(redis).lock(feed_lock(7), "job-1")
    await RedisLocks(redis).lock(schedule_lock(7), "job-2")

    assert sorted(await redis.keys()) == ["ratelimit:domain:feeds.example", "tasklock:feed:7", "tasklock:schedule:7"]
    assert await redis.get("tasklock:feed:7") == "job-1"
    assert 179 <= await redis.ttl("tasklock:feed:7") <= 180
    assert 0 < await redis.pttl("ratelimit:domain:feeds.example") <= 5000


async def test_two_processes_share_the_turns(redis: Redis) -> None:
    one, other = FallbackTurns(RedisTurns(redis)), FallbackTurns(RedisTurns(redis))

    assert await one.take(HOST, "alice", RULE) == NOW
    assert await other.take(HOST, "bob", RULE) > NOW


async def test_redis_forgetting_its_scripts_is_no_trouble(redis: Redis) -> None:
    turns = RedisTurns(redis)
    await turns.take(HOST, "alice", RULE)
    await redis.script_flush()

    await turns.finish(HOST, "alice")

    assert await turns.take("other.example", "alice", RULE) == NOW


async def test_without_redis_the_port_says_so_and_the_fallback_goes_on() -> None:
    client = connect(f"redis://127.0.0.1:{free_port()}/0")
    turns = FallbackTurns(RedisTurns(client))

    with pytest.raises(CoordinationUnavailable):
        await RedisTurns(client).take(HOST, "alice", RULE)
    assert await turns.take(HOST, "alice", RULE) == NOW
    assert await turns.take(HOST, "bob", RULE) > NOW
    await turns.pause("url:x", timedelta(hours=1))
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


async def test_losing_redis_lets_nobody_ask_twice_in_a_row_and_its_return_is_noticed() -> None:
    now, port = 100.0, free_port()
    client = connect(f"redis://127.0.0.1:{port}/0")
    turns = FallbackTurns(RedisTurns(client), clock=lambda: now, rest=5)

    with redis_at(port):
        assert await turns.take(HOST, "alice", RULE) == NOW
    assert await turns.take(HOST, "bob", RULE) > NOW
    with redis_at(port):
        now += 6
        assert await turns.take(HOST, "bob", RULE) == NOW
        assert await client.exists("ratelimit:domain:feeds.example")
        await client.aclose()
