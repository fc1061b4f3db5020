"""Pool workers are killed while Redis restarts and is wiped: no item is handed out twice, or none is lost.

The short form runs with all tests; `make drill` runs the long one.
"""

import multiprocessing
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from feedmill.coordination.redis_client import connect
from feedmill.model.pool import Guarantee, LossPolicy, PoolOptions
from feedmill.open_pools import open_pools
from feedmill.settings import load_settings
from tests.databases import emptied, settings_of
from tests.faults.pool_drill import (
    OWN_TAKERS,
    RELEASE,
    TAKERS,
    PoolDrill,
    PoolDrillPlan,
    check_at_most_once,
    check_lease,
    check_nothing_lost,
    check_own_calls,
    run_drill,
)
from tests.services.redis import own_redis

SMALL = PoolOptions(size=1500, refill_below=1000)
# Longer than a worker on a busy machine takes from a lease to its end.
LEASE = PoolOptions(guarantee=Guarantee.LEASE, lease_seconds=15)
SHORT = PoolDrillPlan(9_000, SMALL, TAKERS, kills=5, restarts=1, flushes=1, seconds=60, texts=1_500)
LONG = PoolDrillPlan(200_000, PoolOptions(), TAKERS, kills=20, restarts=5, flushes=1, seconds=600, texts=20_000)
# SQLite has one writer at a time.
SHORT_PLANS = {"postgresql": SHORT, "sqlite": replace(SHORT, entries=4_000, texts=500)}
LONG_PLANS = {"postgresql": LONG, "sqlite": replace(LONG, entries=60_000, texts=10_000)}


@pytest.fixture(scope="module", autouse=True)
def preload_workers() -> None:
    multiprocessing.set_forkserver_preload(["tests.faults.pool_worker"])


@pytest.fixture(params=["postgresql", "sqlite"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def drill(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> AsyncIterator[PoolDrill]:
    with own_redis() as server:
        async with emptied(request, kind, tmp_path) as db:
            place = {"data": str(tmp_path), "redis": server.service.url}
            settings = settings_of(request, kind, tmp_path) | place
            redis = connect(server.service.url)
            async with open_pools(load_settings(**settings), db) as pools:
                drill = PoolDrill(tmp_path, settings, pools, db, redis, server)
                yield drill
                drill.kill_all()
            await redis.aclose()


async def test_nothing_is_handed_out_twice_whatever_is_killed_restarted_or_wiped(drill: PoolDrill, kind: str) -> None:
    plan = SHORT_PLANS[kind]

    await run_drill(drill, plan)

    assert len(await check_at_most_once(drill, plan)) > plan.items / 2


async def test_nothing_is_lost_if_items_in_doubt_are_released(drill: PoolDrill, kind: str) -> None:
    plan = replace(SHORT_PLANS[kind], loss=RELEASE)

    await run_drill(drill, plan)

    await check_nothing_lost(drill, plan)


async def test_what_only_our_own_calls_hand_out_comes_back_without_a_command(drill: PoolDrill, kind: str) -> None:
    plan = replace(SHORT_PLANS[kind], takers=OWN_TAKERS, kills=3, loss=LossPolicy())

    await run_drill(drill, plan)

    await check_own_calls(drill, plan)


async def test_leases_repeat_no_more_than_what_killed_workers_held(drill: PoolDrill, kind: str) -> None:
    plan = replace(SHORT_PLANS[kind], entries=3_000, options=LEASE, takers=["lease"] * 8, kills=4, flushes=0)

    await run_drill(drill, plan)

    await check_lease(drill, plan)


@pytest.mark.drill
@pytest.mark.timeout(900)
async def test_a_long_run_hands_nothing_out_twice(drill: PoolDrill, kind: str) -> None:
    plan = LONG_PLANS[kind]

    await run_drill(drill, plan)

    assert len(await check_at_most_once(drill, plan)) > plan.items * 0.8


@pytest.mark.drill
@pytest.mark.timeout(900)
async def test_a_long_run_loses_nothing_if_items_in_doubt_are_released(drill: PoolDrill, kind: str) -> None:
    plan = replace(LONG_PLANS[kind], loss=RELEASE)

    await run_drill(drill, plan)

    await check_nothing_lost(drill, plan)


@pytest.mark.drill
@pytest.mark.timeout(900)
async def test_in_a_long_run_items_of_our_own_calls_are_never_in_doubt(drill: PoolDrill, kind: str) -> None:
    plan = replace(LONG_PLANS[kind], takers=OWN_TAKERS, loss=LossPolicy())

    await run_drill(drill, plan)

    await check_own_calls(drill, plan)


@pytest.mark.drill
@pytest.mark.timeout(900)
async def test_in_a_long_run_leases_repeat_no_more_than_what_killed_workers_held(drill: PoolDrill, kind: str) -> None:
    plan = replace(LONG_PLANS[kind], options=LEASE, takers=["lease"] * 8)

    await run_drill(drill, plan)

    await check_lease(drill, plan)
