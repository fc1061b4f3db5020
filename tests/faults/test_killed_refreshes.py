"""A process killed at any moment of a refresh: the next process continues, and nothing is lost or doubled."""

import asyncio
import random
from collections.abc import Sequence

import pytest

from tests.faults.conftest import MakeEnvironment
from tests.faults.fault_environment import FaultEnvironment
from tests.faults.invariants import check, states_of
from tests.faults.kill_points import POINTS
from tests.waiting import LONGEST_WAIT, fault_lasts, until

LEASE = 1.0
LONGEST_LIFE = 0.15


async def test_killed_at_random_moments_and_at_exact_points(make_environment: MakeEnvironment) -> None:
    await _survive(make_environment, "sqlite", [*[""] * 8, *POINTS])


@pytest.mark.drill
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_killed_two_hundred_times(make_environment: MakeEnvironment, kind: str) -> None:
    await _survive(make_environment, kind, [*[""] * 100, *list(POINTS) * 20])


async def test_a_batch_whose_process_was_killed_is_taken_up_by_the_next(make_environment: MakeEnvironment) -> None:
    async with make_environment(feeds=30) as env:
        ids = [feed["id"] for feed in await env.feeds()]
        first = await env.start(batch=ids, die_at="committing", die_after=10)
        await first.ended
        [begun] = await env.batches()

        await env.abandon_batches()
        second = await env.start()
        await env.until_batches_end()
        await second.stop()

        [ended] = await env.batches()
        assert begun["status"] == "running"
        assert (ended["id"], ended["status"]) == (begun["id"], "done")
        await env.full_cycle()
        await check(env, [], most_extra_fetches=1)


async def _survive(make_environment: MakeEnvironment, kind: str, deaths: Sequence[str]) -> None:
    chance = random.Random(5)
    async with make_environment(feeds=40, kind=kind) as env:
        await env.full_cycle()
        await env.read_some()
        kept_states = await states_of(env)
        env.feed_server.delay = 0.01

        in_the_act = [await _die(env, chance, point) for point in chance.sample(deaths, len(deaths))]
        env.feed_server.delay = 0
        await env.full_cycle()

        assert sum(in_the_act) > len(deaths) / 2, "too few died with work at hand"
        await check(env, kept_states, most_extra_fetches=len(deaths))


async def _die(env: FaultEnvironment, chance: random.Random, point: str) -> bool:
    """Kills a process, at that point or at any moment; returns whether it left work undone."""
    some = chance.sample(env.feed_server.paths, 20)
    for path in some[:8]:
        if len(env.feed_server.articles[path]) < 50:
            env.feed_server.publish(path)
    await env.make_due(some)
    before = env.feed_server.requests
    process = await env.start(lease=LEASE, die_at=point, die_after=chance.randrange(3))
    if point:
        await asyncio.wait_for(process.ended, LONGEST_WAIT)
    else:
        # One answer is held back, so that it is not done before it dies, however late that is.
        with env.feed_server.held(some[-1]):
            await until(lambda: _has_asked(env, before), otherwise="it did not ask")
            await fault_lasts(chance.uniform(0, LONGEST_LIFE))
            await process.kill()
    return bool(await env.claims())


async def _has_asked(env: FaultEnvironment, before: int) -> bool:
    return env.feed_server.requests > before
