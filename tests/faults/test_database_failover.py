"""PostgreSQL fails over to its standby during refreshes: every article is stored exactly once."""

import asyncio
import signal
from pathlib import Path

import pytest

from tests.faults.fault_environment import FaultEnvironment
from tests.faults.invariants import check, states_of
from tests.faults.scaled_out_installation import scaled_out
from tests.services.postgres_replica import replicated_postgres
from tests.services.server import Service
from tests.waiting import until

pytestmark = pytest.mark.timeout(900)


@pytest.mark.parametrize("feeds", [120, pytest.param(2000, marks=pytest.mark.drill)])
async def test_a_failover_to_the_standby_under_load_loses_and_doubles_nothing(
    tmp_path: Path, postgres_service: Service, feeds: int
) -> None:
    with replicated_postgres() as pair:
        async with scaled_out(tmp_path, pair.url(), feeds=feeds) as scaled:
            env = scaled.env
            for role in ("scheduler", "scheduler", "worker", "worker"):
                await scaled.start(role)
            await env.make_due()
            await env.until_done(300)
            await env.read_some()
            kept_states = await states_of(env)
            for path in env.feed_server.paths[::3]:
                env.feed_server.publish(path)
            env.feed_server.delay = 0.02
            await env.make_due()
            await _until_asked(env, feeds + feeds // 4)
            logged = env.processes.logged_text()

            await asyncio.to_thread(pair.primary.stop, signal.SIGKILL)
            await until(lambda: env.processes.logged_text() != logged, otherwise="no process noticed the failure")
            await asyncio.to_thread(pair.promote)
            await env.until_done(300)

            env.feed_server.delay = 0
            await env.make_due()
            await env.until_done(300)
            await check(env, kept_states, most_extra_fetches=5)


async def _until_asked(env: FaultEnvironment, requests: int) -> None:
    await until(lambda: env.feed_server.requests >= requests, 300, "the feeds are not fetched")
