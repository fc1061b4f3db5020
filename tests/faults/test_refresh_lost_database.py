"""The database is locked by another program, or goes away and comes back: the mill goes on by itself."""

import asyncio
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest

from feedmill.model.timestamps import to_iso
from feedmill.store.drivers.postgres import PostgresDatabase
from feedmill.store.migrations import migrate
from tests.faults.conftest import MakeWorld
from tests.faults.farm import Farm
from tests.faults.ground import locked
from tests.faults.invariants import check, states_of
from tests.faults.mills import Mills
from tests.faults.world import World, drill_settings
from tests.services.postgres import own_postgres
from tests.waiting import fault_lasts, until
from tests.www.web import Web

STORAGE_PAUSE = 1
FEEDS = 150


async def test_a_database_that_is_locked_for_a_while_is_waited_for(make_world: MakeWorld) -> None:
    await _lock_for_a_while(make_world, patience=30, seconds=5.5, most_in_vain=0)


async def test_a_database_that_is_locked_for_longer_than_we_wait_is_used_again_after(make_world: MakeWorld) -> None:
    await _lock_for_a_while(make_world, patience=0.5, seconds=3, most_in_vain=6)


@pytest.mark.drill
async def test_a_database_that_is_locked_for_a_minute_is_used_again_after(make_world: MakeWorld) -> None:
    await _lock_for_a_while(make_world, patience=30, seconds=65, most_in_vain=3)


@pytest.mark.parametrize("crashes", [1, pytest.param(8, marks=pytest.mark.drill)])
async def test_a_database_server_that_crashes_during_refreshes_is_used_again_after(
    tmp_path: Path, crashes: int
) -> None:
    with own_postgres() as server:
        db = PostgresDatabase(server.service.url)
        await migrate(db)
        settings = drill_settings({"database": server.service.url}, tmp_path, tmp_path / "objects")
        async with Web() as web, Mills(tmp_path) as mills:
            world = World(Farm(web, FEEDS), db, mills, tmp_path, settings)
            await world.settle()
            mill = await world.start(lease=3, storage_pause=1)
            for _ in range(crashes):
                for path in world.farm.paths[::3]:
                    world.farm.publish(path)
                world.farm.slowness = 0.02
                requests, logged = world.farm.requests, mill.said()
                await world.make_due()
                await _until_asked(world, requests)
                await asyncio.to_thread(server.stop, signal.SIGQUIT)
                await until(lambda said=logged: mill.said() != said, otherwise="the mill did not notice")
                await asyncio.to_thread(server.start)
                await world.until_done()
            code = await mill.stop()

            assert code == 0, mill.said()[-3000:]
            await world.full_cycle()
            await check(world, [], most_extra_fetches=5 * crashes)
        await db.close()


async def _lock_for_a_while(make_world: MakeWorld, patience: float, seconds: float, most_in_vain: int) -> None:
    async with make_world(feeds=FEEDS) as world:
        await world.full_cycle()
        await world.read_some()
        kept_states = await states_of(world)
        for path in world.farm.paths:
            world.farm.publish(path)
        mill = await world.start(lease=max(2, 2 * patience), storage_pause=STORAGE_PAUSE, busy_seconds=patience)
        world.farm.slowness = 0.05

        requests, started = world.farm.requests, to_iso(datetime.now(UTC))
        await world.make_due()
        await _until_asked(world, requests)
        with locked(world.folder / "feedmill.db"):
            await fault_lasts(seconds)
        # Those that were put off because of the storage are due again a moment later.
        await until(lambda: _are_all_fetched(world, started), 60 + 2 * patience, "not every feed was fetched")
        await world.until_done(60 + 2 * patience)
        code = await mill.stop()

        assert code == 0, mill.said()[-3000:]
        await check(world, kept_states, most_extra_fetches=most_in_vain)


async def _until_asked(world: World, requests: int) -> None:
    await until(lambda: world.farm.requests > requests, otherwise="the mill fetches nothing")


async def _are_all_fetched(world: World, since: str) -> bool:
    return all((feed["last_fetched_at"] or "") >= since for feed in await world.feeds())
