"""The main function of a Feedmill process under test, with shortened waits and injected faults."""

import asyncio
import random
import signal
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from feedmill.app import App, build_app
from feedmill.collect import refresh
from feedmill.engine.in_process import InProcessEngine
from feedmill.engine.jobs import Job, Priority
from feedmill.logs import set_up
from feedmill.run import batches, held_claims, job_handlers, storage_circuit_breaker
from feedmill.run import embedded as wiring
from feedmill.run.periodic_parts import run_periodic_parts
from feedmill.settings import load_settings
from feedmill.store import leases
from feedmill.store.feeds import claims
from feedmill.store.webhooks import url_leases
from tests.faults import process_roles
from tests.faults.feed_server import POISON
from tests.faults.kill_points import POINTS, KillSwitch


@dataclass(frozen=True)
class ProcessPlan:
    """How a process runs. Times are in seconds, much shorter than in production."""

    settings: dict[str, str]
    # Its role in a scaled-out installation (see `process_roles`); by default, everything in one process.
    role: str = ""
    # After how long its broker delivers again what a killed worker had taken.
    visibility: float = 300
    lease: float = 180
    scan_every: float = 0.1
    storage_pause: float = 0.5
    abandoned: float = 240
    busy_seconds: float = 30
    # The point at which it kills itself, and how often it passes that point before.
    die_at: str = ""
    die_after: int = 0
    # Whether its parser raises an unexpected error on a poisoned feed.
    parser_fails: bool = False
    # How often its engine runs each job, and the share of jobs that it loses.
    repeat: int = 1
    lose: float = 0
    # A file with how far its clock is ahead.
    clock: str = ""
    # Feeds to refresh in a batch as soon as it runs.
    batch: list[int] = field(default_factory=list)


def run_plan(plan: dict[str, Any]) -> None:
    """The entry point of the forked process."""
    run(ProcessPlan(**plan))


def run(plan: ProcessPlan) -> None:
    set_up(load_settings(**plan.settings))
    _shorten_waits(plan)
    if plan.parser_fails:
        _fail_on_poison()
    if plan.die_at:
        POINTS[plan.die_at](KillSwitch(plan.die_after))
    asyncio.run(_mill(plan))


async def _mill(plan: ProcessPlan) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    if plan.role:
        async with build_app(load_settings(**plan.settings)) as app:
            await process_roles.run_role(plan.role, app, stop)
        return
    async with build_app(load_settings(**plan.settings)) as built:
        app = _with_clock(built, plan)
        async with wiring.open_embedded(app) as parts:
            parts.scheduler.scan_every = timedelta(seconds=plan.scan_every)
            async with run_periodic_parts(app, parts):
                if plan.batch:
                    await parts.batches.refresh("refresh_all", plan.batch)
                await stop.wait()


def _with_clock(app: App, plan: ProcessPlan) -> App:
    """Sets the clock ahead by the seconds in the plan's file, which may change at any time."""
    file = Path(plan.clock)
    return replace(app, tools=replace(app.tools, clock=lambda: now_in(file))) if plan.clock else app


def now_in(file: Path) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=float(file.read_text()))


def _shorten_waits(plan: ProcessPlan) -> None:
    """Shortens the product's waits to those of the plan."""
    lease, pause = timedelta(seconds=plan.lease), timedelta(seconds=plan.storage_pause)
    for claiming in (
        claims.claim_due_feeds,
        claims.claim_due_feeds_minimal,
        claims.claim_feeds,
        claims.take_over_claims,
        claims.renew_claims,
    ):
        claiming.__defaults__ = (lease,)
    leases.LEASE = url_leases.LEASE = lease
    held_claims.RENEW_EVERY = lease / 3
    held_claims.MAX_WAIT = lease
    storage_circuit_breaker.FIRST_PAUSE = storage_circuit_breaker.MAX_PAUSE = pause
    job_handlers.CRASH_PAUSE = job_handlers.OUTAGE_PAUSE = pause
    batches.ABANDONED_AFTER = timedelta(seconds=plan.abandoned)
    _set_sqlite_timeout(plan.busy_seconds)
    if plan.role:
        process_roles.shorten_waits(plan.scan_every, plan.visibility, plan.repeat)
    elif plan.repeat > 1 or plan.lose:
        wiring.InProcessEngine = lambda *args: _UnreliableEngine(plan, *args)  # type: ignore[assignment,misc]


def _set_sqlite_timeout(seconds: float) -> None:
    """Sets how long it waits for a locked SQLite file."""
    connect = sqlite3.connect

    def connect_with_timeout(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        return connect(*args, **kwargs | {"timeout": seconds})

    sqlite3.connect = connect_with_timeout


class _UnreliableEngine(InProcessEngine):
    """Delivers some jobs more than once and some never, as a broker may."""

    def __init__(self, plan: ProcessPlan, *args: Any) -> None:
        super().__init__(*args)
        self._plan = plan

    async def submit(self, job: Job, priority: Priority) -> None:
        for _ in range(self._plan.repeat if random.random() >= self._plan.lose else 0):
            await super().submit(job, priority)

    async def run_batch(self, jobs: Sequence[Job], callback: Job, priority: Priority) -> None:
        """Omits the callback if jobs get lost, because the callback waits for all of them."""
        if not self._plan.lose:
            await super().run_batch([job for job in jobs for _ in range(self._plan.repeat)], callback, priority)
            return
        for job in jobs:
            await self.submit(job, priority)


def _fail_on_poison() -> None:
    parse = refresh.parse_off_loop

    async def parse_or_fail(body: bytes, **kwargs: Any) -> Any:
        if POISON.encode() in body:
            raise RecursionError("poison")
        return await parse(body, **kwargs)

    refresh.parse_off_loop = parse_or_fail
