"""An engine that delivers jobs twice, thrice or never: the rows are the truth, so nothing goes wrong."""

import pytest

from tests.faults.conftest import MakeWorld
from tests.faults.invariants import check, states_of

# Long enough to work off all that one scan claims.
LEASE_PER_FEED = 0.015


@pytest.mark.parametrize("feeds", [100, pytest.param(1000, marks=pytest.mark.drill)])
@pytest.mark.parametrize("repeat", [2, 3])
async def test_every_job_delivered_several_times_fetches_each_feed_once(
    make_world: MakeWorld, repeat: int, feeds: int
) -> None:
    async with make_world(feeds=feeds) as world:
        world.farm.slowness = 0.02
        await world.make_due()
        mill = await world.start(repeat=repeat)
        await world.until_done()
        await world.read_some()
        kept_states = await states_of(world)

        await world.make_due()
        await world.until_done()
        code = await mill.stop()

        assert code == 0
        assert set(world.farm.asked().values()) == {2}
        await check(world, kept_states, most_extra_fetches=0)


async def test_every_job_of_a_batch_delivered_several_times_ends_once(make_world: MakeWorld) -> None:
    async with make_world(feeds=50) as world:
        mill = await world.start(repeat=3, batch=[feed["id"] for feed in await world.feeds()])
        await world.until_batches_end()
        code = await mill.stop()

        assert code == 0
        assert set(world.farm.asked().values()) == {1}
        assert {job["outcome"] for job in await world.batch_jobs()} == {"updated"}
        await check(world, [], most_extra_fetches=0)


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.drill)])
@pytest.mark.parametrize("feeds", [100, pytest.param(400, marks=pytest.mark.drill)])
async def test_feeds_whose_jobs_got_lost_come_back_after_their_lease(
    make_world: MakeWorld, kind: str, feeds: int
) -> None:
    async with make_world(feeds=feeds, kind=kind) as world:
        await world.make_due()
        mill = await world.start(lease=LEASE_PER_FEED * feeds, lose=0.2)
        await world.until_done(240)
        code = await mill.stop()

        assert code == 0
        await check(world, [], most_extra_fetches=2)
