"""Several schedulers on one database: each feed is asked once a cycle, whoever does it."""

import pytest

from tests.faults.conftest import MakeWorld
from tests.faults.invariants import check, states_of

SHORT = [("sqlite", 2), ("postgresql", 3)]
LONG = [("sqlite", 2), ("sqlite", 5), ("postgresql", 2), ("postgresql", 5)]


@pytest.mark.parametrize(("kind", "rivals"), SHORT)
async def test_rival_schedulers_ask_each_feed_once_a_cycle(make_world: MakeWorld, kind: str, rivals: int) -> None:
    await _compete(make_world, kind, rivals, feeds=300)


@pytest.mark.drill
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("kind", "rivals"), LONG)
async def test_rival_schedulers_ask_two_thousand_feeds_once_a_cycle(
    make_world: MakeWorld, kind: str, rivals: int
) -> None:
    await _compete(make_world, kind, rivals, feeds=2000)


async def _compete(make_world: MakeWorld, kind: str, rivals: int, feeds: int, cycles: int = 3) -> None:
    async with make_world(feeds=feeds, kind=kind) as world:
        mills = [await world.start() for _ in range(rivals)]

        for cycle in range(1, cycles + 1):
            for path in world.farm.paths[::10]:
                world.farm.publish(path)
            await world.make_due()
            await world.until_done(300)
            assert set(world.farm.asked().values()) == {cycle}
            if cycle == 1:
                await world.read_some()
                kept_states = await states_of(world)
        codes = [await mill.stop() for mill in mills]

        assert codes == [0] * rivals
        await check(world, kept_states, most_extra_fetches=0)
