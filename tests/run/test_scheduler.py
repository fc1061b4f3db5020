"""The scheduler: every due feed once, whoever else scans, however crowded a host, whatever fails."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from feedmill.engine.jobs import Priority, RefreshFeed
from feedmill.errors import BlobUnavailable, DatabaseUnavailable
from feedmill.model.feed import Feed
from feedmill.model.timestamps import to_iso
from feedmill.run.scheduler import MAX_IN_LANE
from feedmill.run.storage_circuit_breaker import FIRST_PAUSE, MAX_PAUSE, StorageCircuitBreaker
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.feeds.claims import LEASE, claim_due_feeds
from feedmill.store.feeds.read_feeds import all_feeds
from feedmill.store.schema import feeds
from tests.databases import connect
from tests.flows.world import DAY, HOUR, NOW, World, answer, item
from tests.run.conftest import Mill, mill_of, running
from tests.waiting import LONGEST_WAIT, until
from tests.www import Answer, Seen, Wire

SECOND = timedelta(seconds=1)
ADD = insert(feeds, "url", "host", "next_fetch_at", "created_at")


async def herd(world: World, count: int, host: str, at: Any = NOW) -> None:
    """Feeds of one host that are all due."""
    due = {"host": host, "next_fetch_at": to_iso(at), "created_at": to_iso(at)}
    rows = [{"url": world.web.url(f"/{number}", host), **due} for number in range(count)]
    await world.db.batch([Step(ADD, rows)])


async def ended(mill: Mill) -> None:
    async with asyncio.timeout(LONGEST_WAIT):
        await mill.engine.until_idle()


@pytest.fixture
async def others(request: pytest.FixtureRequest, tmp_path: Path, world: World) -> AsyncIterator[list[Database]]:
    """Four more connections to the same database, each of its own."""
    kind = "sqlite" if world.db.dialect_name == "sqlite" else "postgresql"
    async with AsyncExitStack() as stack:
        made = [connect(request, kind, tmp_path) for _ in range(4)]
        for one in made:
            stack.push_async_callback(one.close)
        yield made


async def test_five_schedulers_over_one_database_fetch_each_feed_once_per_cycle(
    world: World, others: list[Database]
) -> None:
    await herd(world, 150, "127.0.0.1")
    for number in range(150):
        world.web.serve(f"/{number}", answer(item(f"{number}")))
    mills = [mill_of(world), *(mill_of(world, db) for db in others)]
    for mill in mills:
        mill.scheduler.lot = 20

    for cycle in (1, 2, 3):
        await asyncio.gather(*(mill.scheduler.drain() for mill in mills))
        assert set(Counter(request.path for request in world.web.requests).values()) == {cycle}
        world.now += 2 * DAY

    assert len(world.web.requests) == 450
    assert len(await world.titles()) == 150
    for mill in mills:
        await mill.stop()


async def test_only_what_is_due_is_fetched(world: World, mill: Mill) -> None:
    due = await world.add("/due", answer(item("a")))
    later = await world.add("/later", answer(item("b")))
    await world.change(later, next_fetch_at=to_iso(NOW + HOUR))

    await mill.scheduler.scan()
    await ended(mill)

    assert [request.path for request in world.web.requests] == ["/due"]
    assert (await world.feed(due)).last_success_at == NOW


async def test_a_crowded_host_neither_starves_the_others_nor_keeps_their_claims(world: World) -> None:
    for host in ("127.0.0.1", "127.0.0.2"):
        await herd(world, 1000, host, NOW - HOUR)
    for number in range(10, 40):
        await world.add("/other", answer(item("x")), host=f"127.0.0.{number}")
    gate = asyncio.Event()

    async def slow(seen: Seen, wire: Wire) -> None:
        await gate.wait()
        await wire.send(Answer(status=404).encode())

    for host in ("127.0.0.1", "127.0.0.2"):
        for number in range(1000):
            world.web.serve(f"/{number}", slow, host)
    async with running(world, by_host=True) as mill:
        await mill.scheduler.scan()
        await until(lambda: len(world.web.seen("/other")) == 30, otherwise="some hosts were not asked")
        held = len(mill.handlers.keeper)
        gate.set()
        await ended(mill)

    assert held <= 2 * MAX_IN_LANE + 30
    put_off = [feed for feed in await all_feeds(world.db) if feed.last_fetched_at is None]
    assert len(put_off) == 2 * (1000 - MAX_IN_LANE)
    waits = sorted(_wait(feed) for feed in put_off)
    assert (waits[0], waits[-1]) == (101 * SECOND, 1000 * SECOND)
    assert set(Counter(waits).values()) == {2}
    assert {feed.claimed_until for feed in put_off} == {None}


async def test_claims_are_renewed_while_their_jobs_wait(world: World) -> None:
    await herd(world, 3, "127.0.0.1")
    async with running(world, at_once=0) as mill:
        await mill.scheduler.scan()

        for _ in range(4):
            world.now += LEASE * 0.9
            await mill.handlers.keeper.renew_all()
        assert await claim_due_feeds(world.db, world.now, 10) == []
        world.now += LEASE
        assert len(await claim_due_feeds(world.db, world.now, 10)) == 3


async def test_a_process_that_stops_gives_its_claims_back_and_the_feeds_are_due_at_once(world: World) -> None:
    async def hang(seen: Seen, wire: Wire) -> None:
        await asyncio.Event().wait()

    await herd(world, 10, "127.0.0.1")
    for number in range(10):
        world.web.serve(f"/{number}", hang)
    mill = mill_of(world, at_once=3)
    await mill.scheduler.scan()
    await until(lambda: len(world.web.requests) == 3, otherwise="three feeds were not asked for")

    async with asyncio.timeout(LONGEST_WAIT):
        await mill.stop(grace=timedelta(milliseconds=50))

    due = await claim_due_feeds(world.db, NOW, 100)
    assert len(due) == 10
    assert {claim.feed.consecutive_failures for claim in due} == {0}


async def test_what_runs_when_a_process_stops_comes_to_its_end(world: World) -> None:
    gate = asyncio.Event()

    async def slow(seen: Seen, wire: Wire) -> None:
        await gate.wait()
        await wire.send(answer(item("in time")).encode())

    await world.add("/slow", slow)
    mill = mill_of(world)
    await mill.scheduler.scan()
    await until(lambda: len(world.web.requests) == 1, otherwise="the feed was not asked for")

    stopping = asyncio.create_task(mill.stop())
    await asyncio.sleep(0)  # The engine has been told to stop.
    gate.set()
    await stopping

    assert await world.titles() == ["in time"]


async def test_after_a_storage_failure_no_feed_is_asked_until_the_pause_is_over(
    world: World, mill: Mill, logged: list[Any]
) -> None:
    async def full(key: str, data: bytes, content_type: str) -> None:
        raise BlobUnavailable("the disk is full")

    real, world.blobs.put = world.blobs.put, full  # type: ignore[method-assign]
    first = await world.add("/first", answer(item("a")))
    await mill.scheduler.scan()
    await ended(mill)
    second = await world.add("/second", answer(item("b")))
    await mill.scheduler.scan()
    await ended(mill)

    assert [request.path for request in world.web.requests] == ["/first"]
    assert (await world.feed(first)).last_fetched_at is None
    assert (await world.feed(first)).consecutive_failures == 0
    assert any(line["log_level"] == "error" for line in logged)

    world.blobs.put = real  # type: ignore[method-assign]
    world.now += HOUR
    await mill.scheduler.scan()
    await ended(mill)
    assert sorted(await world.titles()) == ["a", "b"]
    assert (await world.feed(second)).last_success_at == world.now


async def test_a_scan_that_fails_is_said_and_tried_again(world: World, mill: Mill, logged: list[Any]) -> None:
    await world.add("/feed", answer(item("a")))
    broken = [DatabaseUnavailable("away"), RuntimeError("a mistake")]

    async def stumble() -> None:
        if broken:
            raise broken.pop(0)

    mill.scheduler.before_scan = [stumble]
    mill.scheduler.scan_every = timedelta(milliseconds=10)
    scanning = asyncio.create_task(mill.scheduler.run())

    async def has_scanned() -> bool:
        return bool(await world.titles())

    await until(has_scanned, otherwise="it was not tried again")
    scanning.cancel()

    said = [
        (line["event"], line.get("affected") or line.get("task")) for line in logged if line["log_level"] == "error"
    ]
    assert said == [("outage_began", "scan_due_feeds"), ("task_crashed", "scan_due_feeds")]
    assert [line["seconds"] >= 0 for line in logged if line["event"] == "outage_ended"] == [True]


async def test_one_job_alone_claims_for_itself_and_says_when_it_can_t(
    world: World, mill: Mill, logged: list[Any]
) -> None:
    feed = await world.add("/feed", answer(item("a")))
    await world.change(feed, next_fetch_at=to_iso(NOW + DAY))

    for _ in range(2):
        await mill.engine.submit(RefreshFeed(feed.id), Priority.MANUAL)
        await ended(mill)
    world.now += HOUR
    await world.claim(feed)
    for feed_id in (feed.id, 999):
        await mill.engine.submit(RefreshFeed(feed_id), Priority.MANUAL)
        await ended(mill)

    assert len(world.web.requests) == 1
    reasons = [line["reason"] for line in logged if line["event"] == "refresh_skipped"]
    assert reasons == ["fetched 0 s ago", "already_running", "feed_deleted"]


async def test_a_job_that_is_delivered_twice_fetches_once(world: World, mill: Mill) -> None:
    feed = await world.add("/feed", answer(item("a")))
    [claim] = await claim_due_feeds(world.db, NOW, 1)
    [job] = mill.handlers.keeper.jobs_for([claim], lambda feed: "")

    for _ in range(3):
        await mill.engine.submit(job, Priority.SCHEDULED)
    await ended(mill)

    assert len(world.web.requests) == 1
    assert (await world.feed(feed)).last_success_at == NOW


def test_the_breaker_pauses_longer_each_time_and_forgets_when_storage_works() -> None:
    breaker, now, pauses = StorageCircuitBreaker(), NOW, []
    for _ in range(8):
        breaker.failed(now)
        pause = next(length for length in range(1, 1000) if not breaker.is_open(now + length * SECOND))
        pauses.append(pause * SECOND)
        now += pause * SECOND

    assert pauses == [30 * SECOND, 60 * SECOND, 120 * SECOND, 240 * SECOND, 480 * SECOND] + 3 * [MAX_PAUSE]
    breaker.worked()
    assert not breaker.is_open(now)
    breaker.failed(now)
    assert breaker.is_open(now)
    assert not breaker.is_open(now + FIRST_PAUSE)


def test_failures_during_a_pause_do_not_lengthen_it() -> None:
    breaker = StorageCircuitBreaker()
    for seconds in range(20):
        breaker.failed(NOW + seconds * SECOND)

    assert not breaker.is_open(NOW + FIRST_PAUSE)


def _wait(feed: Feed) -> timedelta:
    assert feed.next_fetch_at is not None
    return feed.next_fetch_at - NOW
