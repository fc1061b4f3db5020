"""SIGTERM under load: the server ends in time, and its unfinished feeds are due at once."""

import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from feedmill.model.timestamps import from_iso
from feedmill.store.database import Database
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.feeds.claims import claim_due_feeds, release_claims
from feedmill.store.schema import fetch_log
from tests.faults.conftest import MakeEnvironment
from tests.faults.fault_environment import CLAIMED, FaultEnvironment
from tests.faults.invariants import check
from tests.faults.processes import ROOT
from tests.faults.storage_faults import locked
from tests.services.server import free_port
from tests.waiting import fault_lasts, until

LONGEST_STOP = 30


@pytest.mark.parametrize("feeds", [300, pytest.param(2000, marks=pytest.mark.drill)])
async def test_a_stopped_server_releases_its_claims(make_environment: MakeEnvironment, feeds: int) -> None:
    async with make_environment(feeds=feeds) as env:
        await env.make_due()
        env.feed_server.delay = 0.05
        async with _serving(env) as server:
            await _until_asked(env, 60)
            seconds, code = await _stop(server)

        asked = env.feed_server.asked()
        assert (code, await env.claims()) == (0, [])
        assert 60 <= len(asked) < feeds, "it was not stopped in the middle of its work"
        assert set(asked.values()) == {1}
        assert await _due(env) == feeds - len(await _fetched(env))
        assert seconds < LONGEST_STOP
        env.feed_server.delay = 0
        await env.full_cycle()
        await check(env, [], most_extra_fetches=1)


@pytest.mark.drill
async def test_a_server_whose_feeds_hang_is_stopped_in_time(make_environment: MakeEnvironment) -> None:
    async with make_environment(feeds=100) as env:
        await env.make_due()
        with env.feed_server.held():
            async with _serving(env) as server:
                await _until_asked(env, 20)
                seconds, code = await _stop(server)

        assert (code, await env.claims()) == (0, [])
        assert seconds < LONGEST_STOP
        assert await _due(env) == 100
        await env.full_cycle()
        await check(env, [], most_extra_fetches=1)


@pytest.mark.drill
async def test_a_server_whose_database_is_locked_is_stopped_in_time(make_environment: MakeEnvironment) -> None:
    async with make_environment(feeds=100) as env:
        await env.make_due()
        env.feed_server.delay = 0.3
        async with _serving(env) as server:
            await _until_asked(env, 20)
            with locked(env.folder / "feedmill.db"):
                seconds, code = await _stop(server)

        assert code == 0
        assert seconds < LONGEST_STOP
        env.feed_server.delay = 0
        await env.end_claims()
        await env.full_cycle()
        await check(env, [], most_extra_fetches=1)


async def test_a_cancelled_scan_releases_its_claims(db: Database) -> None:
    now = datetime.now(UTC)
    for number in range(300):
        await add_feed(db, f"http://127.0.0.1/{number}", now)

    for milliseconds in range(20):
        scan = asyncio.create_task(claim_due_feeds(db, now, 300))
        await fault_lasts(milliseconds / 1000)
        scan.cancel()
        [claims] = await asyncio.gather(scan, return_exceptions=True)

        if isinstance(claims, list):
            await release_claims(db, claims)
        assert await db.query(CLAIMED) == []


@asynccontextmanager
async def _serving(env: FaultEnvironment) -> AsyncIterator[Process]:
    names = {f"FEEDMILL_{name.upper()}": value for name, value in env.settings.items()}
    with (env.folder / "serve.log").open("wb") as log:
        server = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "feedmill",
            "serve",
            "--port",
            str(free_port()),
            cwd=ROOT / "src",
            stdout=log,
            stderr=log,
            start_new_session=True,
            env={"PATH": os.environ["PATH"]} | names,
        )
    try:
        yield server
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        await server.wait()


async def _until_asked(env: FaultEnvironment, times: int) -> None:
    async def asked_enough() -> bool:
        return env.feed_server.requests >= times

    await until(asked_enough, otherwise=f"only {env.feed_server.requests} requests were made")


async def _stop(server: Process) -> tuple[float, int]:
    started = time.monotonic()
    server.terminate()
    code = await asyncio.wait_for(server.wait(), LONGEST_STOP + 10)
    return time.monotonic() - started, code


async def _fetched(env: FaultEnvironment) -> set[int]:
    return {row["feed_id"] for row in await env.db.query(select(fetch_log.c.feed_id))}


async def _due(env: FaultEnvironment) -> int:
    return sum(from_iso(feed["next_fetch_at"]).timestamp() < time.time() for feed in await env.feeds())
