"""The clock jumps: feeds are neither stuck nor asked again and again, and claims from another day end."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.database import Step
from feedmill.store.schema import feeds
from tests.faults.conftest import MakeWorld
from tests.faults.invariants import FARTHEST, check, states_of
from tests.faults.mill import now_in
from tests.faults.mills import Mill
from tests.faults.world import World
from tests.waiting import until

DAY = timedelta(days=1)
YEAR = timedelta(days=365)
FEEDS = 20


@pytest.fixture
def clock(tmp_path: Path) -> Path:
    path = tmp_path / "clock"
    path.write_text("0")
    return path


async def test_a_day_forward_and_back_asks_each_feed_once_more(make_world: MakeWorld, clock: Path) -> None:
    async with make_world(feeds=FEEDS) as world:
        await _start_and_settle(world, clock)

        await _jump(world, clock, DAY * 2, expected=2)
        await _jump(world, clock, timedelta(), expected=2)

        farthest = max(from_iso(feed["next_fetch_at"]) for feed in await world.feeds())
        assert farthest < datetime.now(UTC) + DAY * 2 + FARTHEST


async def test_a_clock_that_was_years_ahead_stops_no_feed(make_world: MakeWorld, clock: Path) -> None:
    async with make_world(feeds=FEEDS) as world:
        await _start_and_settle(world, clock)
        await world.read_some()
        kept_states = await states_of(world)

        await _jump(world, clock, YEAR * 10, expected=2)
        await _jump(world, clock, timedelta(), expected=3)

        await check(world, kept_states, most_extra_fetches=0)


async def test_claims_that_a_wrong_clock_took_end_with_it(make_world: MakeWorld, clock: Path) -> None:
    async with make_world(feeds=FEEDS) as world:
        far = to_iso(datetime.now(UTC) + YEAR)
        await world.db.batch([Step(update(feeds).values(claim_token="dead", claimed_until=far))])
        await world.make_due()

        await _start_and_settle(world, clock)

        await check(world, [], most_extra_fetches=0)


async def test_a_clock_set_back_while_storage_failed_does_not_stop_the_scan(make_world: MakeWorld, clock: Path) -> None:
    async with make_world(feeds=FEEDS) as world:
        world.objects.write_text("a file where a folder must be")
        clock.write_text(str(DAY.total_seconds()))
        await world.make_due()
        mill = await world.start(clock=str(clock), storage_pause=3600)
        await until(lambda: _has_failed(world, mill), otherwise="nothing failed")

        world.objects.unlink()
        clock.write_text("0")
        await world.make_due()
        await world.until_done(30)

        await check(world, [], most_extra_fetches=2)


async def _start_and_settle(world: World, clock: Path) -> None:
    await world.make_due()
    await world.start(clock=str(clock))
    await world.until_done()


async def _jump(world: World, clock: Path, ahead: timedelta, expected: int) -> None:
    """Sets the clock, and waits until every feed was asked for as often as expected and nothing is left to do."""
    clock.write_text(str(ahead.total_seconds()))
    await until(lambda: _is_done(world, clock, expected), otherwise=f"not every feed was asked {expected} times")
    assert set(world.farm.asked().values()) == {expected}


async def _is_done(world: World, clock: Path, expected: int) -> bool:
    now = now_in(clock)
    waiting = [feed for feed in await world.feeds() if feed["claim_token"] or from_iso(feed["next_fetch_at"]) < now]
    return not waiting and min(world.farm.asked().values()) >= expected


async def _has_failed(world: World, mill: Mill) -> bool:
    return "outage_began" in mill.said() and not await world.claims()
