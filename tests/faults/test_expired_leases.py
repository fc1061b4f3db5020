"""A worker that hangs until its lease has expired changes nothing when it continues."""

import signal

import pytest
from sqlalchemy import select

from feedmill.store.database import Row
from feedmill.store.schema import entries, feeds, fetch_log, raw_bodies, unread
from tests.faults.conftest import MakeEnvironment
from tests.faults.fault_environment import FaultEnvironment
from tests.faults.invariants import check, states_of
from tests.faults.processes import FeedmillProcess
from tests.waiting import until

LEASE = 0.6


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_worker_that_outlives_its_lease_changes_nothing(make_environment: MakeEnvironment, kind: str) -> None:
    await _outlive_lease(make_environment, kind, rounds=2)


@pytest.mark.drill
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_worker_that_outlives_its_lease_thirty_times_changes_nothing(
    make_environment: MakeEnvironment, kind: str
) -> None:
    await _outlive_lease(make_environment, kind, rounds=30)


async def _outlive_lease(make_environment: MakeEnvironment, kind: str, rounds: int) -> None:
    async with make_environment(feeds=3, kind=kind) as env:
        await env.full_cycle()
        await env.read_some(4)
        kept_states = await states_of(env)

        for _ in range(rounds):
            await _outlive_lease_once(env)

        await env.full_cycle()
        await check(env, kept_states, most_extra_fetches=rounds)


async def _outlive_lease_once(env: FaultEnvironment) -> None:
    path = env.feed_server.paths[0]
    env.feed_server.publish(path)
    late_worker = await env.start(lease=LEASE)
    with env.feed_server.held():
        before = env.feed_server.requests
        await env.make_due([path])
        await until(lambda: _was_asked(env, before), otherwise="it did not ask")
        late_worker.signal(signal.SIGSTOP)
    # What the late worker has fetched is outdated when it continues.
    env.feed_server.publish(path)
    other = await env.start()
    await env.until_done()
    await other.stop()
    rows = await _all_rows(env)

    late_worker.signal(signal.SIGCONT)
    await until(lambda: _has_noticed(late_worker), otherwise="it did not notice that it lost its claim")

    assert await _all_rows(env) == rows
    assert await late_worker.stop() == 0


async def _was_asked(env: FaultEnvironment, before: int) -> bool:
    return env.feed_server.requests > before


async def _has_noticed(late_worker: FeedmillProcess) -> bool:
    return "refresh_skipped" in late_worker.logged_text()


async def _all_rows(env: FaultEnvironment) -> list[list[Row]]:
    tables = (feeds, entries, fetch_log, raw_bodies, unread)
    return [await env.db.query(select(table).order_by(*table.primary_key.columns)) for table in tables]
