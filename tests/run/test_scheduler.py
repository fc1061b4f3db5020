"""The scheduler: every due feed is fetched once, also with other schedulers, crowded hosts and failures."""

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
from tests.flows.refresh_environment import DAY, HOUR, NOW, RefreshEnvironment, answer, item
from tests.run.conftest import EmbeddedProcess, process_of, running
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest
from tests.waiting import LONGEST_WAIT, until

SECOND = timedelta(seconds=1)
ADD = insert(feeds, "url", "host", "next_fetch_at", "created_at")


async def herd(env: RefreshEnvironment, count: int, host: str, at: Any = NOW) -> None:
    """Feeds of one host that are all due."""
    due = {"host": host, "next_fetch_at": to_iso(at), "created_at": to_iso(at)}
    rows = [{"url": env.web.url(f"/{number}", host), **due} for number in range(count)]
    await env.db.batch([Step(ADD, rows)])


async def ended(process: EmbeddedProcess) -> None:
    async with asyncio.timeout(LONGEST_WAIT):
        await process.engine.until_idle()


@pytest.fixture
async def others(
    request: pytest.FixtureRequest, tmp_path: Path, env: RefreshEnvironment
) -> AsyncIterator[list[Database]]:
    """Four more separate connections to the same database."""
    kind = "sqlite" if env.db.dialect_name == "sqlite" else "postgresql"
    async with AsyncExitStack() as stack:
        made = [connect(request, kind, tmp_path) for _ in range(4)]
        for one in made:
            stack.push_async_callback(one.close)
        yield made


async def test_five_schedulers_over_one_database_fetch_each_feed_once_per_cycle(
    env: RefreshEnvironment, others: list[Database]
) -> None:
    await herd(env, 150, "127.0.0.1")
    for number in range(150):
        env.web.serve(f"/{number}", answer(item(f"{number}")))
    processes = [process_of(env), *(process_of(env, db) for db in others)]
    for process in processes:
        process.scheduler.chunk_size = 20

    for cycle in (1, 2, 3):
        await asyncio.gather(*(process.scheduler.drain() for process in processes))
        assert set(Counter(request.path for request in env.web.requests).values()) == {cycle}
        env.now += 2 * DAY

    assert len(env.web.requests) == 450
    assert len(await env.titles()) == 150
    for process in processes:
        await process.stop()


async def test_only_due_feeds_are_fetched(env: RefreshEnvironment, process: EmbeddedProcess) -> None:
    due = await env.add("/due", answer(item("a")))
    later = await env.add("/later", answer(item("b")))
    await env.change(later, next_fetch_at=to_iso(NOW + HOUR))

    await process.scheduler.scan()
    await ended(process)

    assert [request.path for request in env.web.requests] == ["/due"]
    assert (await env.feed(due)).last_success_at == NOW


async def test_a_crowded_host_neither_starves_other_hosts_nor_keeps_their_claims(env: RefreshEnvironment) -> None:
    for host in ("127.0.0.1", "127.0.0.2"):
        await herd(env, 1000, host, NOW - HOUR)
    for number in range(10, 40):
        await env.add("/other", answer(item("x")), host=f"127.0.0.{number}")
    gate = asyncio.Event()

    async def slow(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await gate.wait()
        await wire.send(Answer(status=404).encode())

    for host in ("127.0.0.1", "127.0.0.2"):
        for number in range(1000):
            env.web.serve(f"/{number}", slow, host)
    async with running(env, by_host=True) as process:
        await process.scheduler.scan()
        await until(lambda: len(env.web.seen("/other")) == 30, otherwise="some hosts were not asked")
        held = len(process.handlers.held_claims)
        gate.set()
        await ended(process)

    assert held <= 2 * MAX_IN_LANE + 30
    put_off = [feed for feed in await all_feeds(env.db) if feed.last_fetched_at is None]
    assert len(put_off) == 2 * (1000 - MAX_IN_LANE)
    waits = sorted(_wait(feed) for feed in put_off)
    assert (waits[0], waits[-1]) == (101 * SECOND, 1000 * SECOND)
    assert set(Counter(waits).values()) == {2}
    assert {feed.claimed_until for feed in put_off} == {None}


async def test_claims_are_renewed_while_their_jobs_wait(env: RefreshEnvironment) -> None:
    await herd(env, 3, "127.0.0.1")
    async with running(env, at_once=0) as process:
        await process.scheduler.scan()

        for _ in range(4):
            env.now += LEASE * 0.9
            await process.handlers.held_claims.renew_all()
        assert await claim_due_feeds(env.db, env.now, 10) == []
        env.now += LEASE
        assert len(await claim_due_feeds(env.db, env.now, 10)) == 3


async def test_a_stopping_process_releases_its_claims_and_the_feeds_are_due_at_once(
    env: RefreshEnvironment,
) -> None:
    async def hang(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await asyncio.Event().wait()

    await herd(env, 10, "127.0.0.1")
    for number in range(10):
        env.web.serve(f"/{number}", hang)
    process = process_of(env, at_once=3)
    await process.scheduler.scan()
    await until(lambda: len(env.web.requests) == 3, otherwise="three feeds were not asked for")

    async with asyncio.timeout(LONGEST_WAIT):
        await process.stop(grace=timedelta(milliseconds=50))

    due = await claim_due_feeds(env.db, NOW, 100)
    assert len(due) == 10
    assert {claim.feed.consecutive_failures for claim in due} == {0}


async def test_running_jobs_finish_when_a_process_stops(env: RefreshEnvironment) -> None:
    gate = asyncio.Event()

    async def slow(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await gate.wait()
        await wire.send(answer(item("in time")).encode())

    await env.add("/slow", slow)
    process = process_of(env)
    await process.scheduler.scan()
    await until(lambda: len(env.web.requests) == 1, otherwise="the feed was not asked for")

    stopping = asyncio.create_task(process.stop())
    await asyncio.sleep(0)  # The engine is stopping.
    gate.set()
    await stopping

    assert await env.titles() == ["in time"]


async def test_after_a_storage_failure_no_feed_is_fetched_until_the_pause_is_over(
    env: RefreshEnvironment, process: EmbeddedProcess, logged: list[Any]
) -> None:
    async def full(key: str, data: bytes, content_type: str) -> None:
        raise BlobUnavailable("the disk is full")

    real, env.blobs.put = env.blobs.put, full  # type: ignore[method-assign]
    first = await env.add("/first", answer(item("a")))
    await process.scheduler.scan()
    await ended(process)
    second = await env.add("/second", answer(item("b")))
    await process.scheduler.scan()
    await ended(process)

    assert [request.path for request in env.web.requests] == ["/first"]
    assert (await env.feed(first)).last_fetched_at is None
    assert (await env.feed(first)).consecutive_failures == 0
    assert any(line["log_level"] == "error" for line in logged)

    env.blobs.put = real  # type: ignore[method-assign]
    env.now += HOUR
    await process.scheduler.scan()
    await ended(process)
    assert sorted(await env.titles()) == ["a", "b"]
    assert (await env.feed(second)).last_success_at == env.now


async def test_a_failed_scan_is_logged_and_retried(
    env: RefreshEnvironment, process: EmbeddedProcess, logged: list[Any]
) -> None:
    await env.add("/feed", answer(item("a")))
    broken = [DatabaseUnavailable("away"), RuntimeError("a mistake")]

    async def stumble() -> None:
        if broken:
            raise broken.pop(0)

    process.scheduler.before_scan = [stumble]
    process.scheduler.scan_every = timedelta(milliseconds=10)
    scanning = asyncio.create_task(process.scheduler.run())

    async def has_scanned() -> bool:
        return bool(await env.titles()) and any(line["event"] == "outage_ended" for line in logged)

    await until(has_scanned, otherwise="it was not tried again")
    scanning.cancel()

    said = [
        (line["event"], line.get("affected") or line.get("task")) for line in logged if line["log_level"] == "error"
    ]
    assert said == [("outage_began", "scan_due_feeds"), ("task_crashed", "scan_due_feeds")]
    assert [line["seconds"] >= 0 for line in logged if line["event"] == "outage_ended"] == [True]


async def test_a_single_job_claims_its_feed_and_reports_when_it_cannot(
    env: RefreshEnvironment, process: EmbeddedProcess, logged: list[Any]
) -> None:
    feed = await env.add("/feed", answer(item("a")))
    await env.change(feed, next_fetch_at=to_iso(NOW + DAY))

    for _ in range(2):
        await process.engine.submit(RefreshFeed(feed.id), Priority.MANUAL)
        await ended(process)
    env.now += HOUR
    await env.claim(feed)
    for feed_id in (feed.id, 999):
        await process.engine.submit(RefreshFeed(feed_id), Priority.MANUAL)
        await ended(process)

    assert len(env.web.requests) == 1
    reasons = [line["reason"] for line in logged if line["event"] == "refresh_skipped"]
    assert reasons == ["fetched 0 s ago", "already_running", "feed_deleted"]


async def test_a_job_that_is_delivered_twice_fetches_once(env: RefreshEnvironment, process: EmbeddedProcess) -> None:
    feed = await env.add("/feed", answer(item("a")))
    [claim] = await claim_due_feeds(env.db, NOW, 1)
    [job] = process.handlers.held_claims.jobs_for([claim], lambda feed: "")

    for _ in range(3):
        await process.engine.submit(job, Priority.SCHEDULED)
    await ended(process)

    assert len(env.web.requests) == 1
    assert (await env.feed(feed)).last_success_at == NOW


def test_the_circuit_breaker_pauses_longer_each_time_and_resets_when_storage_works() -> None:
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
