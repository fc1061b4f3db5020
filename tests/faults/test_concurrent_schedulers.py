"""Several schedulers on one database: each feed is fetched once a cycle."""

import pytest

from tests.faults.conftest import MakeEnvironment
from tests.faults.invariants import check, states_of

SHORT = [("sqlite", 2), ("postgresql", 3)]
LONG = [("sqlite", 2), ("sqlite", 5), ("postgresql", 2), ("postgresql", 5)]


@pytest.mark.parametrize(("kind", "schedulers"), SHORT)
async def test_concurrent_schedulers_fetch_each_feed_once_a_cycle(
    make_environment: MakeEnvironment, kind: str, schedulers: int
) -> None:
    await _run_cycles(make_environment, kind, schedulers, feeds=300)


@pytest.mark.drill
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("kind", "schedulers"), LONG)
async def test_concurrent_schedulers_fetch_two_thousand_feeds_once_a_cycle(
    make_environment: MakeEnvironment, kind: str, schedulers: int
) -> None:
    await _run_cycles(make_environment, kind, schedulers, feeds=2000)


async def _run_cycles(
    make_environment: MakeEnvironment, kind: str, schedulers: int, feeds: int, cycles: int = 3
) -> None:
    async with make_environment(feeds=feeds, kind=kind) as env:
        processes = [await env.start() for _ in range(schedulers)]

        for cycle in range(1, cycles + 1):
            for path in env.feed_server.paths[::10]:
                env.feed_server.publish(path)
            await env.make_due()
            await env.until_done(300)
            assert set(env.feed_server.asked().values()) == {cycle}
            if cycle == 1:
                await env.read_some()
                kept_states = await states_of(env)
        codes = [await process.stop() for process in processes]

        assert codes == [0] * schedulers
        await check(env, kept_states, most_extra_fetches=0)
