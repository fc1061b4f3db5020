"""kill -9 at any moment of a refresh: the next process finds everything in order and goes on."""

import asyncio
import random
from collections.abc import Sequence

import pytest

from tests.faults.conftest import MakeWorld
from tests.faults.deaths import POINTS
from tests.faults.invariants import check, states_of
from tests.faults.world import World
from tests.waiting import fault_lasts, until

LEASE = 1.0
LONGEST_LIFE = 0.15


async def test_killed_at_random_moments_and_at_exact_points(make_world: MakeWorld) -> None:
    await _survive(make_world, "sqlite", [*[""] * 8, *POINTS])


@pytest.mark.drill
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_killed_two_hundred_times(make_world: MakeWorld, kind: str) -> None:
    await _survive(make_world, kind, [*[""] * 100, *list(POINTS) * 20])


async def test_a_batch_whose_process_was_killed_is_taken_up_by_the_next(make_world: MakeWorld) -> None:
    async with make_world(feeds=30) as world:
        ids = [feed["id"] for feed in await world.feeds()]
        first = await world.start(lease=LEASE, batch=ids, die_at="committing", die_after=10)
        await first.ended
        [begun] = await world.batches()

        second = await world.start(lease=LEASE, abandoned=1)
        await world.until_batches_end()
        await second.stop()

        [ended] = await world.batches()
        assert begun["status"] == "running"
        assert (ended["id"], ended["status"]) == (begun["id"], "done")
        await world.full_cycle()
        await check(world, [], most_extra_fetches=1)


async def _survive(make_world: MakeWorld, kind: str, deaths: Sequence[str]) -> None:
    chance = random.Random(5)
    async with make_world(feeds=40, kind=kind) as world:
        await world.full_cycle()
        await world.read_some()
        kept_states = await states_of(world)
        world.farm.slowness = 0.01

        in_the_act = [await _die(world, chance, point) for point in chance.sample(deaths, len(deaths))]
        world.farm.slowness = 0
        await world.full_cycle()

        assert sum(in_the_act) > len(deaths) / 2, "too few died with work at hand"
        await check(world, kept_states, most_extra_fetches=len(deaths))


async def _die(world: World, chance: random.Random, point: str) -> bool:
    """Lets a mill die, at that point or at any moment; whether it left work undone."""
    some = chance.sample(world.farm.paths, 20)
    for path in some[:8]:
        if len(world.farm.articles[path]) < 50:
            world.farm.publish(path)
    await world.make_due(some)
    before = world.farm.requests
    mill = await world.start(lease=LEASE, die_at=point, die_after=chance.randrange(3))
    if point:
        await asyncio.wait_for(mill.ended, 30)
    else:
        await until(lambda: _has_asked(world, before), otherwise="it did not ask")
        await fault_lasts(chance.uniform(0, LONGEST_LIFE))
        await mill.kill()
    return bool(await world.claims())


async def _has_asked(world: World, before: int) -> bool:
    return world.farm.requests > before
