"""The database is locked, or crashes and comes back: Feedmill continues by itself."""

import asyncio
import signal
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from feedmill.model.timestamps import to_iso
from feedmill.store.drivers.postgres import PostgresDatabase
from feedmill.store.migrations import migrate
from tests.faults.conftest import MakeEnvironment
from tests.faults.fault_environment import FaultEnvironment, fault_settings
from tests.faults.feed_server import FeedServer
from tests.faults.invariants import check, states_of
from tests.faults.processes import FeedmillProcesses
from tests.faults.storage_faults import locked
from tests.scripted_web.server import Web
from tests.services.postgres import own_postgres
from tests.waiting import fault_lasts, until

STORAGE_PAUSE = 1
FEEDS = 150


async def test_a_database_that_is_locked_for_a_while_is_waited_for(make_environment: MakeEnvironment) -> None:
    await _lock_for_a_while(make_environment, lock_timeout=30, seconds=5.5, most_in_vain=0)


async def test_a_database_that_is_locked_for_longer_than_we_wait_is_used_again_after(
    make_environment: MakeEnvironment,
) -> None:
    await _lock_for_a_while(make_environment, lock_timeout=0.5, seconds=3, most_in_vain=6)


@pytest.mark.drill
async def test_a_database_that_is_locked_for_a_minute_is_used_again_after(make_environment: MakeEnvironment) -> None:
    await _lock_for_a_while(make_environment, lock_timeout=30, seconds=65, most_in_vain=3)


@pytest.mark.parametrize("crashes", [1, pytest.param(8, marks=pytest.mark.drill)])
async def test_a_database_server_that_crashes_during_refreshes_is_used_again_after(
    tmp_path: Path, crashes: int
) -> None:
    with own_postgres() as server:
        db = PostgresDatabase(server.service.url)
        await migrate(db)
        settings = fault_settings({"database": server.service.url}, tmp_path, tmp_path / "objects")
        async with Web() as web, FeedmillProcesses(tmp_path) as processes:
            env = FaultEnvironment(FeedServer(web, FEEDS), db, processes, tmp_path, settings)
            await env.subscribe_alice()
            process = await env.start(lease=3, storage_pause=1)
            for _ in range(crashes):
                for path in env.feed_server.paths[::3]:
                    env.feed_server.publish(path)
                env.feed_server.delay = 0.02
                requests, logged = env.feed_server.requests, process.logged_text()
                await env.make_due()
                await _until_asked(env, requests)
                await asyncio.to_thread(server.stop, signal.SIGQUIT)
                await until(
                    lambda before=logged: process.logged_text() != before, otherwise="the process did not notice"
                )
                await asyncio.to_thread(server.start)
                await env.until_done()
            code = await process.stop()

            assert code == 0, process.logged_text()[-3000:]
            await env.full_cycle()
            await check(env, [], most_extra_fetches=5 * crashes)
        await db.close()


async def _lock_for_a_while(
    make_environment: MakeEnvironment, lock_timeout: float, seconds: float, most_in_vain: int
) -> None:
    async with make_environment(feeds=FEEDS) as env:
        await env.full_cycle()
        await env.read_some()
        kept_states = await states_of(env)
        for path in env.feed_server.paths:
            env.feed_server.publish(path)
        process = await env.start(
            lease=max(2, 2 * lock_timeout), storage_pause=STORAGE_PAUSE, busy_seconds=lock_timeout
        )
        env.feed_server.delay = 0.05

        requests, started = env.feed_server.requests, to_iso(datetime.now(UTC))
        await env.make_due()
        await _until_asked(env, requests)
        with locked(env.folder / "feedmill.db"):
            locked_at = time.monotonic()
            await fault_lasts(seconds)
        lasted = time.monotonic() - locked_at
        # Those that were put off because of the storage are due again a moment later.
        await until(lambda: _are_all_fetched(env, started), 60 + 2 * lock_timeout, "not every feed was fetched")
        await env.until_done(60 + 2 * lock_timeout)
        code = await process.stop()

        assert code == 0, process.logged_text()[-3000:]
        # On a busy machine it may have been locked for longer.
        in_vain = most_in_vain + int(lasted - seconds) // STORAGE_PAUSE if lasted > lock_timeout else 0
        await check(env, kept_states, most_extra_fetches=in_vain)


async def _until_asked(env: FaultEnvironment, requests: int) -> None:
    await until(lambda: env.feed_server.requests > requests, otherwise="the process fetches nothing")


async def _are_all_fetched(env: FaultEnvironment, since: str) -> bool:
    return all((feed["last_fetched_at"] or "") >= since for feed in await env.feeds())
