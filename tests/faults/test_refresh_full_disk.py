"""The disk is full for a while: nothing is lost or doubled, and the feeds' servers hardly notice."""

import os
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from feedmill.store.database import Row
from tests.faults.conftest import MakeWorld
from tests.faults.ground import Disk, small_disk
from tests.faults.invariants import check, states_of
from tests.faults.world import World
from tests.waiting import fault_lasts, until

FEEDS = 60
PAUSE = 1.0
NEWS = 20

# Where every suite must run, it fails instead.
pytestmark = pytest.mark.skipif(
    os.getuid() != 0 and not os.environ.get("CI"), reason="only root may mount a small disk"
)


@pytest.mark.parametrize("seconds", [2.5, pytest.param(15.0, marks=pytest.mark.drill)])
async def test_a_full_disk_under_the_objects(make_world: MakeWorld, tmp_path: Path, seconds: float) -> None:
    with small_disk(tmp_path / "disk", 2) as disk:
        async with make_world(feeds=FEEDS, objects=disk.folder / "objects") as world:
            stored = await _fill_for_a_while(world, disk, seconds)

    assert stored == 0


@pytest.mark.parametrize("seconds", [2.5, pytest.param(15.0, marks=pytest.mark.drill)])
@pytest.mark.parametrize("left", [0, 200_000], ids=["full", "nearly full"])
async def test_a_full_disk_under_the_database(make_world: MakeWorld, tmp_path: Path, left: int, seconds: float) -> None:
    with small_disk(tmp_path / "disk", 32) as disk:
        async with make_world(feeds=FEEDS, data=disk.folder) as world:
            stored = await _fill_for_a_while(world, disk, seconds, left)

    assert stored < FEEDS, "there was room for everything"


async def _fill_for_a_while(world: World, disk: Disk, seconds: float, left: int = 0) -> int:
    """Fills the disk while every feed has news; how many feeds could be refreshed all the same."""
    await world.make_due()
    mill = await world.start(lease=2, storage_pause=PAUSE)
    await world.until_done()
    await world.read_some()
    kept_states = await states_of(world)
    for path in world.farm.paths:
        world.farm.publish(path, NEWS)

    await world.db.exec("PRAGMA wal_checkpoint(TRUNCATE)")
    before, requests = await world.feeds(), world.farm.requests
    with ExitStack() as fault:
        with world.farm.held():
            await world.make_due()
            await until(lambda: world.farm.requests > requests, otherwise="nothing was fetched")
            fault.enter_context(disk.full(left))
            started = time.monotonic()
        await fault_lasts(seconds)
        asked = world.farm.asked(requests)
        stored = [_has_its_news(old, new) for old, new in zip(before, await world.feeds(), strict=True)]
        lasted = time.monotonic() - started
    await world.until_done()
    code = await mill.stop()

    assert code == 0, mill.said()[-3000:]
    in_vain = int(lasted / PAUSE) + 2
    assert max(asked.values(), default=0) <= in_vain
    await check(world, kept_states, most_extra_fetches=in_vain)
    return sum(stored)


def _has_its_news(old: Row, new: Row) -> bool:
    """Whether all of it is there; if not, nothing may say that the feed was fetched."""
    if new["entry_count"] == old["entry_count"] + NEWS:
        return True
    assert new["entry_count"] == old["entry_count"]
    assert new["last_fetched_at"] == old["last_fetched_at"]
    assert (new["etag"], new["body_sha256"]) == (old["etag"], old["body_sha256"])
    return False
