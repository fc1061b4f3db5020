"""The disk is full for a while: nothing is lost or doubled, and feeds are fetched hardly more often."""

import os
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from feedmill.store.database import Row
from tests.faults.conftest import MakeEnvironment
from tests.faults.fault_environment import FaultEnvironment
from tests.faults.invariants import check, states_of
from tests.faults.storage_faults import Disk, small_disk
from tests.waiting import fault_lasts, until

FEEDS = 60
PAUSE = 1.0
NEWS = 20

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")


@pytest.mark.parametrize("seconds", [2.5, pytest.param(15.0, marks=pytest.mark.drill)])
async def test_a_full_disk_under_the_objects(make_environment: MakeEnvironment, tmp_path: Path, seconds: float) -> None:
    with small_disk(tmp_path / "disk", 2) as disk:
        async with make_environment(feeds=FEEDS, objects=disk.folder / "objects") as env:
            stored = await _fill_for_a_while(env, disk, seconds)

    assert stored == 0


@pytest.mark.parametrize("seconds", [2.5, pytest.param(15.0, marks=pytest.mark.drill)])
@pytest.mark.parametrize("left", [0, 200_000], ids=["full", "nearly full"])
async def test_a_full_disk_under_the_database(
    make_environment: MakeEnvironment, tmp_path: Path, left: int, seconds: float
) -> None:
    with small_disk(tmp_path / "disk", 32) as disk:
        async with make_environment(feeds=FEEDS, data=disk.folder) as env:
            stored = await _fill_for_a_while(env, disk, seconds, left)

    assert stored < FEEDS, "there was room for everything"


async def _fill_for_a_while(env: FaultEnvironment, disk: Disk, seconds: float, left: int = 0) -> int:
    """Fills the disk while every feed has news; how many feeds could be refreshed all the same."""
    await env.make_due()
    process = await env.start(lease=2, storage_pause=PAUSE)
    await env.until_done()
    await env.read_some()
    kept_states = await states_of(env)
    for path in env.feed_server.paths:
        env.feed_server.publish(path, NEWS)

    await env.db.exec("PRAGMA wal_checkpoint(TRUNCATE)")
    before, requests = await env.feeds(), env.feed_server.requests
    with ExitStack() as fault:
        with env.feed_server.held():
            await env.make_due()
            await until(lambda: env.feed_server.requests > requests, otherwise="nothing was fetched")
            fault.enter_context(disk.full(left))
            started = time.monotonic()
        await fault_lasts(seconds)
        asked = env.feed_server.asked(requests)
        stored = [_has_its_news(old, new) for old, new in zip(before, await env.feeds(), strict=True)]
        lasted = time.monotonic() - started
    await env.until_done()
    code = await process.stop()

    assert code == 0, process.logged_text()[-3000:]
    in_vain = int(lasted / PAUSE) + 2
    assert max(asked.values(), default=0) <= in_vain
    await check(env, kept_states, most_extra_fetches=in_vain)
    return sum(stored)


def _has_its_news(old: Row, new: Row) -> bool:
    """Whether all of it is there; if not, nothing may say that the feed was fetched."""
    if new["entry_count"] == old["entry_count"] + NEWS:
        return True
    assert new["entry_count"] == old["entry_count"]
    assert new["last_fetched_at"] == old["last_fetched_at"]
    assert (new["etag"], new["body_sha256"]) == (old["etag"], old["body_sha256"])
    return False
