"""The clock jumps: no feed is stuck or fetched repeatedly, and claims taken with a wrong clock end."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.database import Step
from feedmill.store.schema import feeds
from tests.faults.conftest import MakeEnvironment
from tests.faults.fault_environment import FaultEnvironment
from tests.faults.invariants import FARTHEST, check, states_of
from tests.faults.process_main import now_in
from tests.faults.processes import FeedmillProcess
from tests.waiting import until

DAY = timedelta(days=1)
YEAR = timedelta(days=365)
FEEDS = 20


@pytest.fixture
def clock(tmp_path: Path) -> Path:
    path = tmp_path / "clock"
    _set_clock(path, timedelta())
    return path


async def test_a_clock_set_forward_and_back_fetches_each_feed_once_more(
    make_environment: MakeEnvironment, clock: Path
) -> None:
    async with make_environment(feeds=FEEDS) as env:
        await _start_and_settle(env, clock)

        await _jump(env, clock, DAY * 2, expected=2)
        await _jump(env, clock, timedelta(), expected=2)

        farthest = max(from_iso(feed["next_fetch_at"]) for feed in await env.feeds())
        assert farthest < datetime.now(UTC) + DAY * 2 + FARTHEST


async def test_a_clock_that_was_years_ahead_stops_no_feed(make_environment: MakeEnvironment, clock: Path) -> None:
    async with make_environment(feeds=FEEDS) as env:
        await _start_and_settle(env, clock)
        await env.read_some()
        kept_states = await states_of(env)

        await _jump(env, clock, YEAR * 10, expected=2)
        await _jump(env, clock, timedelta(), expected=3)

        await check(env, kept_states, most_extra_fetches=0)


async def test_claims_taken_with_a_wrong_clock_end_when_it_is_right(
    make_environment: MakeEnvironment, clock: Path
) -> None:
    async with make_environment(feeds=FEEDS) as env:
        far = to_iso(datetime.now(UTC) + YEAR)
        await env.db.batch([Step(update(feeds).values(claim_token="dead", claimed_until=far))])
        await env.make_due()

        await _start_and_settle(env, clock)

        await check(env, [], most_extra_fetches=0)


async def test_a_clock_set_back_while_storage_failed_does_not_stop_the_scan(
    make_environment: MakeEnvironment, clock: Path
) -> None:
    async with make_environment(feeds=FEEDS) as env:
        env.objects.write_text("a file where a folder must be")
        _set_clock(clock, DAY)
        await env.make_due()
        process = await env.start(clock=str(clock), storage_pause=3600)
        await until(lambda: _has_failed(env, process), otherwise="nothing failed")

        env.objects.unlink()
        _set_clock(clock, timedelta())
        await env.make_due()
        await env.until_done()

        await check(env, [], most_extra_fetches=2)


async def _start_and_settle(env: FaultEnvironment, clock: Path) -> None:
    await env.make_due()
    await env.start(clock=str(clock))
    await env.until_done()


async def _jump(env: FaultEnvironment, clock: Path, ahead: timedelta, expected: int) -> None:
    """Sets the clock, and waits until every feed was asked for as often as expected and nothing is left to do."""
    _set_clock(clock, ahead)
    await until(lambda: _is_done(env, clock, expected), otherwise=f"not every feed was asked {expected} times")
    assert set(env.feed_server.asked().values()) == {expected}


def _set_clock(clock: Path, ahead: timedelta) -> None:
    """Replaces the whole file: a process that reads it meanwhile finds the old time or the new one."""
    written = clock.with_suffix(".new")
    written.write_text(str(ahead.total_seconds()))
    written.replace(clock)


async def _is_done(env: FaultEnvironment, clock: Path, expected: int) -> bool:
    now = now_in(clock)
    waiting = [feed for feed in await env.feeds() if feed["claim_token"] or from_iso(feed["next_fetch_at"]) < now]
    return not waiting and min(env.feed_server.asked().values()) >= expected


async def _has_failed(env: FaultEnvironment, process: FeedmillProcess) -> bool:
    return "outage_began" in process.logged_text() and not await env.claims()
