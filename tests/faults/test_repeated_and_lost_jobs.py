"""An engine that delivers jobs several times or never: each feed is still fetched once."""

import pytest

from tests.faults.conftest import MakeEnvironment
from tests.faults.invariants import check, states_of

# Long enough to work off all that one scan claims, on a busy machine too.
LEASE_PER_FEED = 0.05


@pytest.mark.parametrize("feeds", [100, pytest.param(1000, marks=pytest.mark.drill)])
@pytest.mark.parametrize("repeat", [2, 3])
async def test_every_job_delivered_several_times_fetches_each_feed_once(
    make_environment: MakeEnvironment, repeat: int, feeds: int
) -> None:
    async with make_environment(feeds=feeds) as env:
        env.feed_server.delay = 0.02
        await env.make_due()
        process = await env.start(repeat=repeat)
        await env.until_done()
        await env.read_some()
        kept_states = await states_of(env)

        await env.make_due()
        await env.until_done()
        code = await process.stop()

        assert code == 0
        assert set(env.feed_server.asked().values()) == {2}
        await check(env, kept_states, most_extra_fetches=0)


async def test_every_job_of_a_batch_delivered_several_times_ends_once(make_environment: MakeEnvironment) -> None:
    async with make_environment(feeds=50) as env:
        process = await env.start(repeat=3, batch=[feed["id"] for feed in await env.feeds()])
        await env.until_batches_end()
        code = await process.stop()

        assert code == 0
        assert set(env.feed_server.asked().values()) == {1}
        assert {job["outcome"] for job in await env.batch_jobs()} == {"updated"}
        await check(env, [], most_extra_fetches=0)


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.drill)])
@pytest.mark.parametrize("feeds", [100, pytest.param(400, marks=pytest.mark.drill)])
async def test_feeds_whose_jobs_got_lost_come_back_after_their_lease(
    make_environment: MakeEnvironment, kind: str, feeds: int
) -> None:
    async with make_environment(feeds=feeds, kind=kind) as env:
        await env.make_due()
        process = await env.start(lease=LEASE_PER_FEED * feeds, lose=0.2)
        await env.until_done(240)
        code = await process.stop()

        assert code == 0
        await check(env, [], most_extra_fetches=2)
