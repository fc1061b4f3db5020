"""Workers, schedulers, Redis and PostgreSQL, killed, restarted, wiped and doubled: every article once, none lost."""

import asyncio
import random
import signal
from pathlib import Path

import pytest

from tests.faults.invariants import check, states_of
from tests.faults.scaled import Scaled, scaled_out
from tests.faults.world import World
from tests.services.postgres import own_postgres
from tests.services.server import Service
from tests.waiting import until

pytestmark = pytest.mark.timeout(900)


@pytest.mark.parametrize("kills", [5, pytest.param(50, marks=pytest.mark.drill)])
async def test_workers_killed_under_load_lose_nothing(tmp_path: Path, postgres_service: Service, kills: int) -> None:
    chance = random.Random(7)
    async with scaled_out(tmp_path, postgres_service.url, feeds=120) as scaled:
        world = scaled.world
        await scaled.start("scheduler")
        workers = [await scaled.start("worker") for _ in range(2)]
        world.farm.slowness = 0.02
        for number in range(kills):
            await _publish_some(world, chance)
            before = world.farm.requests
            await world.make_due()
            await _until_asked_or_done(world, before + chance.randrange(5, 100))
            await workers[number % 2].kill()
            workers[number % 2] = await scaled.start("worker")
        await world.until_done(60)

        await _check_all(scaled, most_extra_fetches=kills)


async def test_two_schedulers_have_each_feed_asked_once_a_cycle(tmp_path: Path, postgres_service: Service) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=200) as scaled:
        world = scaled.world
        mills = [await scaled.start(role, lease=60) for role in ("scheduler", "scheduler", "worker", "worker")]
        for cycle in (1, 2):
            await world.make_due()
            await world.until_done(60)
            assert set(world.farm.asked().values()) == {cycle}
        codes = [await mill.stop() for mill in mills]

        assert codes == [0] * 4
        await check(world, await states_of(world), most_extra_fetches=0)


async def test_every_message_delivered_three_times_has_each_feed_asked_once(
    tmp_path: Path, postgres_service: Service
) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=150) as scaled:
        world = scaled.world
        for role in ("scheduler", "worker", "worker"):
            await scaled.start(role, repeat=3, lease=60)
        world.farm.slowness = 0.02
        await world.make_due()
        await world.until_done(60)
        assert set(world.farm.asked().values()) == {1}

        await scaled.send("schedule_user_batch_refresh", feed_ids=await _feed_ids(world), user_id=1)
        await _until_a_batch_ended(world)

        assert set(world.farm.asked().values()) == {2}
        assert {job["outcome"] for job in await world.batch_jobs()} == {"unchanged"}
        await check(world, [], most_extra_fetches=0)


@pytest.mark.parametrize("times", [1, pytest.param(5, marks=pytest.mark.drill)])
async def test_a_redis_that_is_restarted_and_wiped_under_load_loses_nothing(
    tmp_path: Path, postgres_service: Service, times: int
) -> None:
    chance = random.Random(11)
    async with scaled_out(tmp_path, postgres_service.url, feeds=150) as scaled:
        world = scaled.world
        for role in ("scheduler", "worker", "worker"):
            await scaled.start(role)
        world.farm.slowness = 0.02
        for _ in range(times):
            await _make_work(world, chance)
            logged = world.mills.said()
            await asyncio.to_thread(scaled.redis.stop, signal.SIGKILL)
            await _until_noticed(world, logged)
            await asyncio.to_thread(scaled.redis.start)
            await world.until_done(60)
            await _make_work(world, chance)
            await scaled.wipe()
            await world.until_done(60)
            await _make_work(world, chance)
            await scaled.delete_queues()
            await world.until_done(60)

        await _check_all(scaled, most_extra_fetches=3 * times)


async def test_while_redis_is_away_feeds_are_refreshed_all_the_same(tmp_path: Path, postgres_service: Service) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=60) as scaled:
        world = scaled.world
        await scaled.start("worker")
        await asyncio.to_thread(scaled.redis.stop)

        await world.make_due()
        await world.until_done(60)
        await asyncio.to_thread(scaled.redis.start)
        await scaled.start("scheduler")
        await world.make_due()
        await world.until_done(60)

        assert set(world.farm.asked().values()) == {2}
        await check(world, [], most_extra_fetches=0)


@pytest.mark.parametrize("crashes", [1, pytest.param(5, marks=pytest.mark.drill)])
async def test_a_database_server_that_crashes_under_load_loses_nothing(tmp_path: Path, crashes: int) -> None:
    chance = random.Random(13)
    with own_postgres() as server:
        async with scaled_out(tmp_path, server.service.url, feeds=120) as scaled:
            world = scaled.world
            for role in ("scheduler", "worker", "worker"):
                await scaled.start(role)
            world.farm.slowness = 0.02
            for _ in range(crashes):
                await _make_work(world, chance)
                logged = world.mills.said()
                await asyncio.to_thread(server.stop, signal.SIGQUIT)
                await _until_noticed(world, logged)
                await asyncio.to_thread(server.start)
                await world.until_done(60)

            await _check_all(scaled, most_extra_fetches=3 * crashes)


async def test_a_batch_whose_worker_and_queues_are_gone_comes_to_its_end(
    tmp_path: Path, postgres_service: Service
) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=80) as scaled:
        world = scaled.world
        first = await scaled.start("worker")
        world.farm.slowness = 0.05
        await scaled.send("schedule_user_batch_refresh", feed_ids=await _feed_ids(world), user_id=1)
        await _until_asked(world, 20)
        await first.kill()
        await scaled.wipe()

        for role in ("scheduler", "worker"):
            await scaled.start(role)
        await _until_a_batch_ended(world)

        assert {job["outcome"] for job in await world.batch_jobs()} == {"updated"}
        await check(world, [], most_extra_fetches=1)


async def test_a_stopped_worker_gives_back_what_it_has_not_done(tmp_path: Path, postgres_service: Service) -> None:
    async with scaled_out(tmp_path, postgres_service.url, feeds=200) as scaled:
        world = scaled.world
        worker = await scaled.start("worker", lease=60)
        world.farm.slowness = 0.1
        await world.make_due()
        await scaled.send("scan_due_feeds")
        await _until_asked(world, 30)

        code = await worker.stop()

        assert (code, await world.claims()) == (0, [])
        assert len(world.farm.asked()) < 200, "it was not stopped in the middle of its work"
        for role in ("scheduler", "worker"):
            await scaled.start(role, lease=60)
        await world.until_done(60)
        assert set(world.farm.asked().values()) == {1}
        await check(world, [], most_extra_fetches=0)


async def _check_all(scaled: Scaled, most_extra_fetches: int) -> None:
    """Once more undisturbed, then everything has to be as it should."""
    scaled.world.farm.slowness = 0
    await scaled.world.make_due()
    await scaled.world.until_done(60)
    await check(scaled.world, [], most_extra_fetches)


async def _make_work(world: World, chance: random.Random) -> None:
    """Leaves off in the middle of a cycle."""
    await _publish_some(world, chance)
    before = world.farm.requests
    await world.make_due()
    await _until_asked_or_done(world, before + chance.randrange(20, 80))


async def _publish_some(world: World, chance: random.Random) -> None:
    for path in chance.sample(world.farm.paths, 30):
        if len(world.farm.articles[path]) < 50:
            world.farm.publish(path)


async def _feed_ids(world: World) -> list[int]:
    return [feed["id"] for feed in await world.feeds()]


async def _until_asked_or_done(world: World, requests: int) -> None:
    """What was being asked when it was made due is not asked again, so there may be fewer requests."""

    async def asked_enough() -> bool:
        return world.farm.requests >= requests or await world.is_done()

    await until(asked_enough, otherwise=f"only {world.farm.requests} of {requests} requests were made")


async def _until_asked(world: World, requests: int) -> None:
    async def asked_enough() -> bool:
        return world.farm.requests >= requests

    await until(asked_enough, otherwise=f"only {world.farm.requests} of {requests} requests were made")


async def _until_a_batch_ended(world: World) -> None:
    async def has_ended() -> bool:
        return [row["status"] for row in await world.batches()] == ["done"]

    await until(has_ended, otherwise="the batch has not ended")


async def _until_noticed(world: World, logged: str) -> None:
    await until(lambda: world.mills.said() != logged, otherwise="no process noticed what is away")
