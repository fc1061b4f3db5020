"""A worker that hangs and wakes after its lease: what it writes then changes nothing."""

import signal

import pytest
from sqlalchemy import select

from feedmill.store.database import Row
from feedmill.store.schema import entries, feeds, fetch_log, raw_bodies, unread
from tests.faults.conftest import MakeWorld
from tests.faults.invariants import check, states_of
from tests.faults.mills import Mill
from tests.faults.world import World
from tests.waiting import until

LEASE = 0.6


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_worker_that_wakes_after_its_lease_changes_nothing(make_world: MakeWorld, kind: str) -> None:
    await _oversleep(make_world, kind, rounds=2)


@pytest.mark.drill
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_worker_that_oversleeps_thirty_times_changes_nothing(make_world: MakeWorld, kind: str) -> None:
    await _oversleep(make_world, kind, rounds=30)


async def _oversleep(make_world: MakeWorld, kind: str, rounds: int) -> None:
    async with make_world(feeds=3, kind=kind) as world:
        await world.full_cycle()
        await world.read_some(4)
        kept_states = await states_of(world)

        for _ in range(rounds):
            await _oversleep_once(world)

        await world.full_cycle()
        await check(world, kept_states, most_extra_fetches=rounds)


async def _oversleep_once(world: World) -> None:
    path = world.farm.paths[0]
    world.farm.publish(path)
    sleeper = await world.start(lease=LEASE)
    with world.farm.held():
        before = world.farm.requests
        await world.make_due([path])
        await until(lambda: _was_asked(world, before), otherwise="it did not ask")
        sleeper.signal(signal.SIGSTOP)
    # What the sleeper will wake up with is not the news any more.
    world.farm.publish(path)
    other = await world.start()
    await world.until_done()
    await other.stop()
    stands = await _everything(world)

    sleeper.signal(signal.SIGCONT)
    await until(lambda: _has_noticed(sleeper), otherwise="it did not notice that it lost its claim")

    assert await _everything(world) == stands
    assert await sleeper.stop() == 0


async def _was_asked(world: World, before: int) -> bool:
    return world.farm.requests > before


async def _has_noticed(sleeper: Mill) -> bool:
    return "refresh_skipped" in sleeper.said()


async def _everything(world: World) -> list[list[Row]]:
    tables = (feeds, entries, fetch_log, raw_bodies, unread)
    return [await world.db.query(select(table).order_by(*table.primary_key.columns)) for table in tables]
