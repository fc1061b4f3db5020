"""The disk is full for a while: nothing is lost or doubled, and the feeds' servers hardly notice."""

import asyncio
import os
from pathlib import Path

import pytest
from sqlalchemy import select

from feedmill.store.schema import feeds
from tests.faults.conftest import MakeWorld
from tests.faults.disks import Disk, small_disk
from tests.faults.invariants import check, states_of
from tests.faults.world import World

FEEDS = 60
PAUSE = 1.0

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root may mount a small disk")


@pytest.mark.parametrize("seconds", [2.5, pytest.param(15.0, marks=pytest.mark.drill)])
async def test_a_full_disk_under_the_objects(make_world: MakeWorld, tmp_path: Path, seconds: float) -> None:
    with small_disk(tmp_path / "disk", 2) as disk:
        async with make_world(feeds=FEEDS, objects=disk.folder / "objects") as world:
            await _fill_for_a_while(world, disk, seconds)


@pytest.mark.parametrize("seconds", [2.5, pytest.param(15.0, marks=pytest.mark.drill)])
async def test_a_full_disk_under_the_database(make_world: MakeWorld, tmp_path: Path, seconds: float) -> None:
    with small_disk(tmp_path / "disk", 32) as disk:
        async with make_world(feeds=FEEDS, data=disk.folder) as world:
            await _fill_for_a_while(world, disk, seconds)


async def _fill_for_a_while(world: World, disk: Disk, seconds: float) -> None:
    await world.make_due()
    mill = await world.start(lease=2, storage_pause=PAUSE)
    await world.until_done()
    await world.read_some()
    kept_states = await states_of(world)
    for path in world.farm.paths:
        world.farm.publish(path, 20)

    fetched = await _last_fetches(world)
    before = world.farm.requests
    await world.make_due(after=0.7)
    with disk.full():
        await asyncio.sleep(seconds)
        asked = world.farm.asked(before)
        assert await _last_fetches(world) == fetched
    await world.until_done()
    code = await mill.stop()

    assert code == 0, mill.said()[-3000:]
    in_vain = int(seconds / PAUSE) + 1
    assert max(asked.values(), default=0) <= in_vain
    await check(world, kept_states, most_extra_fetches=in_vain)


async def _last_fetches(world: World) -> dict[int, str]:
    return {row["id"]: row["last_fetched_at"] for row in await world.db.query(select(feeds))}
