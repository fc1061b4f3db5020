"""Workers, schedulers, Redis and PostgreSQL are killed, restarted and wiped: every article is stored exactly once."""

import asyncio
import random
import signal
from pathlib import Path

import pytest

from tests.faults.fault_environment import FaultEnvironment
from tests.faults.invariants import check, states_of
from tests.faults.scaled_out_installation import ScaledOutInstallation, scaled_out
from tests.services.postgres import own_postgres
from tests.services.server import Service
from tests.waiting import until

pytestmark = pytest.mark.timeout(900)


@pytest.mark.parametrize("kills", [5, pytest.param(50, marks=pytest.mark.drill)])
async def test_workers_killed_under_load_lose_nothing(tmp_path: Path, postgres_service: Service, kills: int) -> None:
    chance = random.Random(7)
    async with scaled_out(tmp_path, postgres_service.url, feeds=120) as scaled:
        env = scaled.env
        await scaled.start("scheduler")
        workers = [await scaled.start("worker") for _ in range(2)]
        env.feed_server.delay = 0.02
        for number in range(kills):
            await _publish_some(env, chance)
            before = env.feed_server.requests
            await env.make_due()
            await _until_asked_or_done(env, before + chance.randrange(5, 100))
            await workers[number % 2].kill()
            workers[number % 2] = await scaled.start("worker")
        await env.until_done(60)

        await _check_all(scaled, most_extra_fetches=kills)


async def test_two_schedulers_fetch_each_feed_once_a_cycle(tmp_path: Path, postgres_service: Service) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=200) as scaled:
        env = scaled.env
        processes = [await scaled.start(role, lease=60) for role in ("scheduler", "scheduler", "worker", "worker")]
        for cycle in (1, 2):
            await env.make_due()
            await env.until_done(60)
            assert set(env.feed_server.asked().values()) == {cycle}
        codes = [await process.stop() for process in processes]

        assert codes == [0] * 4
        await check(env, await states_of(env), most_extra_fetches=0)


async def test_messages_delivered_three_times_fetch_each_feed_once(tmp_path: Path, postgres_service: Service) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=150) as scaled:
        env = scaled.env
        for role in ("scheduler", "worker", "worker"):
            # No message comes back because the machine is busy: a batch that has ended would be started again.
            await scaled.start(role, repeat=3, lease=60, visibility=60)
        env.feed_server.delay = 0.02
        await env.make_due()
        await env.until_done(60)
        assert set(env.feed_server.asked().values()) == {1}

        await scaled.send("schedule_user_batch_refresh", feed_ids=await _feed_ids(env), user_id=1)
        await _until_a_batch_ended(env)

        assert set(env.feed_server.asked().values()) == {2}
        assert {job["outcome"] for job in await env.batch_jobs()} == {"unchanged"}
        await check(env, [], most_extra_fetches=0)


@pytest.mark.parametrize("times", [1, pytest.param(5, marks=pytest.mark.drill)])
async def test_a_redis_that_is_restarted_and_wiped_under_load_loses_nothing(
    tmp_path: Path, postgres_service: Service, times: int
) -> None:
    chance = random.Random(11)
    async with scaled_out(tmp_path, postgres_service.url, feeds=150) as scaled:
        env = scaled.env
        for role in ("scheduler", "worker", "worker"):
            await scaled.start(role)
        env.feed_server.delay = 0.02
        for _ in range(times):
            await _make_work(env, chance)
            logged = env.processes.logged_text()
            await asyncio.to_thread(scaled.redis.stop, signal.SIGKILL)
            await _until_noticed(env, logged)
            await asyncio.to_thread(scaled.redis.start)
            await env.until_done(60)
            await _make_work(env, chance)
            await scaled.wipe()
            await env.until_done(60)
            await _make_work(env, chance)
            await scaled.delete_queues()
            await env.until_done(60)

        await _check_all(scaled, most_extra_fetches=3 * times)


async def test_feeds_are_refreshed_while_redis_is_down(tmp_path: Path, postgres_service: Service) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=60) as scaled:
        env = scaled.env
        await scaled.start("worker", lease=60)
        await asyncio.to_thread(scaled.redis.stop)

        await env.make_due()
        await env.until_done(60)
        await asyncio.to_thread(scaled.redis.start)
        await scaled.start("scheduler", lease=60)
        await env.make_due()
        await env.until_done(60)

        assert set(env.feed_server.asked().values()) == {2}
        await check(env, [], most_extra_fetches=0)


@pytest.mark.parametrize("crashes", [1, pytest.param(5, marks=pytest.mark.drill)])
async def test_a_database_server_that_crashes_under_load_loses_nothing(tmp_path: Path, crashes: int) -> None:
    chance = random.Random(13)
    with own_postgres() as server:
        async with scaled_out(tmp_path, server.service.url, feeds=120) as scaled:
            env = scaled.env
            for role in ("scheduler", "worker", "worker"):
                await scaled.start(role)
            env.feed_server.delay = 0.02
            for _ in range(crashes):
                await _make_work(env, chance)
                logged = env.processes.logged_text()
                await asyncio.to_thread(server.stop, signal.SIGQUIT)
                await _until_noticed(env, logged)
                await asyncio.to_thread(server.start)
                await env.until_done(60)

            await _check_all(scaled, most_extra_fetches=3 * crashes)


async def test_a_batch_whose_worker_and_queues_are_lost_is_finished(tmp_path: Path, postgres_service: Service) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=80) as scaled:
        env = scaled.env
        first = await scaled.start("worker")
        env.feed_server.delay = 0.05
        await scaled.send("schedule_user_batch_refresh", feed_ids=await _feed_ids(env), user_id=1)
        await _until_asked(env, 20)
        await first.kill()
        await scaled.wipe()

        await env.abandon_batches()
        for role in ("scheduler", "worker"):
            await scaled.start(role, lease=60)
        await _until_a_batch_ended(env)

        assert {job["outcome"] for job in await env.batch_jobs()} == {"updated"}
        await check(env, [], most_extra_fetches=1)


async def test_a_stopped_worker_releases_what_it_has_not_done(tmp_path: Path, postgres_service: Service) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=200) as scaled:
        env = scaled.env
        worker = await scaled.start("worker", lease=60)
        env.feed_server.delay = 0.1
        await env.make_due()
        await scaled.send("scan_due_feeds")
        await _until_asked(env, 30)

        code = await worker.stop()

        assert (code, await env.claims()) == (0, [])
        assert len(env.feed_server.asked()) < 200, "it was not stopped in the middle of its work"
        for role in ("scheduler", "worker"):
            await scaled.start(role, lease=60)
        await env.until_done(60)
        assert set(env.feed_server.asked().values()) == {1}
        await check(env, [], most_extra_fetches=0)


async def _check_all(scaled: ScaledOutInstallation, most_extra_fetches: int) -> None:
    """Once more undisturbed, then everything has to be as it should."""
    scaled.env.feed_server.delay = 0
    await scaled.env.make_due()
    await scaled.env.until_done(60)
    await check(scaled.env, [], most_extra_fetches)


async def _make_work(env: FaultEnvironment, chance: random.Random) -> None:
    """Leaves off in the middle of a cycle."""
    await _publish_some(env, chance)
    before = env.feed_server.requests
    await env.make_due()
    await _until_asked_or_done(env, before + chance.randrange(20, 80))


async def _publish_some(env: FaultEnvironment, chance: random.Random) -> None:
    for path in chance.sample(env.feed_server.paths, 30):
        if len(env.feed_server.articles[path]) < 50:
            env.feed_server.publish(path)


async def _feed_ids(env: FaultEnvironment) -> list[int]:
    return [feed["id"] for feed in await env.feeds()]


async def _until_asked_or_done(env: FaultEnvironment, requests: int) -> None:
    """What was being asked when it was made due is not asked again, so there may be fewer requests."""

    async def asked_enough() -> bool:
        return env.feed_server.requests >= requests or await env.is_done()

    await until(asked_enough, otherwise=f"only {env.feed_server.requests} of {requests} requests were made")


async def _until_asked(env: FaultEnvironment, requests: int) -> None:
    async def asked_enough() -> bool:
        return env.feed_server.requests >= requests

    await until(asked_enough, otherwise=f"only {env.feed_server.requests} of {requests} requests were made")


async def _until_a_batch_ended(env: FaultEnvironment) -> None:
    async def has_ended() -> bool:
        return [row["status"] for row in await env.batches()] == ["done"]

    await until(has_ended, otherwise="the batch has not ended")


async def _until_noticed(env: FaultEnvironment, logged: str) -> None:
    await until(lambda: env.processes.logged_text() != logged, otherwise="no process noticed what is away")
