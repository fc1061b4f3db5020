"""The product in a process of its own, as a drill wants it: hurried, clumsy or doomed."""

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
from feedmill.run import batches, claim_keeper, job_handlers, storage_circuit_breaker
from feedmill.run import embedded as wiring
from feedmill.settings import load_settings
from feedmill.store import leases
from feedmill.store.feeds import claims
from feedmill.store.webhooks import url_leases
from tests.faults import roles
from tests.faults.deaths import POINTS, Doom
from tests.faults.farm import POISON


@dataclass(frozen=True)
class Plan:
    """How a mill runs. Times are seconds, much shorter than the product's own."""

    settings: dict[str, str]
    # What it is in a scaled-out installation (see `roles`); by default, everything in one process.
    role: str = ""
    # After how long its broker delivers again what a killed worker had taken.
    visibility: float = 300
    lease: float = 180
    scan_every: float = 0.1
    storage_pause: float = 0.5
    abandoned: float = 240
    busy_seconds: float = 30
    # Where it kills itself, and how often it passes there before that.
    die_at: str = ""
    die_after: int = 0
    # Whether its parser fails in a way that nobody foresaw when it meets poison.
    stumbles: bool = False
    # What its engine does with a job: runs it so many times, or loses this share of them.
    repeat: int = 1
    lose: float = 0
    # A file with how far its clock is ahead.
    clock: str = ""
    # Feeds to refresh in a batch as soon as it runs.
    batch: list[int] = field(default_factory=list)


def run_plan(plan: dict[str, Any]) -> None:
    """What the process of a mill does."""
    run(Plan(**plan))


def run(plan: Plan) -> None:
    set_up(load_settings(**plan.settings))
    _hurry(plan)
    if plan.stumbles:
        _stumble()
    if plan.die_at:
        POINTS[plan.die_at](Doom(plan.die_after))
    asyncio.run(_mill(plan))


async def _mill(plan: Plan) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    if plan.role:
        async with build_app(load_settings(**plan.settings)) as app:
            await roles.play(plan.role, app, stop)
        return
    async with build_app(load_settings(**plan.settings)) as app, wiring.open_embedded(_with_clock(app, plan)) as parts:
        parts.scheduler.scan_every = timedelta(seconds=plan.scan_every)
        async with wiring.run_periodic_parts(parts):
            if plan.batch:
                await parts.batches.refresh("refresh_all", plan.batch)
            await stop.wait()


def _with_clock(app: App, plan: Plan) -> App:
    """Its clock is ahead by the seconds that stand in the plan's file, now and whenever they change."""
    file = Path(plan.clock)
    return replace(app, tools=replace(app.tools, clock=lambda: now_in(file))) if plan.clock else app


def now_in(file: Path) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=float(file.read_text()))


def _hurry(plan: Plan) -> None:
    """Makes the product's waits as short as the plan wants them."""
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
    claim_keeper.RENEW_EVERY = lease / 3
    claim_keeper.MAX_WAIT = lease
    storage_circuit_breaker.FIRST_PAUSE = storage_circuit_breaker.MAX_PAUSE = pause
    job_handlers.CRASH_PAUSE = job_handlers.OUTAGE_PAUSE = pause
    batches.ABANDONED_AFTER = timedelta(seconds=plan.abandoned)
    _patience(plan.busy_seconds)
    if plan.role:
        roles.hurry(plan.scan_every, plan.visibility, plan.repeat)
    elif plan.repeat > 1 or plan.lose:
        wiring.InProcessEngine = lambda *args: _ClumsyEngine(plan, *args)  # type: ignore[assignment,misc]


def _patience(seconds: float) -> None:
    """How long it waits for a locked SQLite file."""
    connect = sqlite3.connect

    def connect_with_patience(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        return connect(*args, **kwargs | {"timeout": seconds})

    sqlite3.connect = connect_with_patience


class _ClumsyEngine(InProcessEngine):
    """Does with jobs what a broker may do: delivers some more than once, and some never."""

    def __init__(self, plan: Plan, *args: Any) -> None:
        super().__init__(*args)
        self._plan = plan

    async def submit(self, job: Job, priority: Priority) -> None:
        for _ in range(self._plan.repeat if random.random() >= self._plan.lose else 0):
            await super().submit(job, priority)

    async def run_batch(self, jobs: Sequence[Job], callback: Job, priority: Priority) -> None:
        """Without its callback if it loses jobs, because it waits for them."""
        if not self._plan.lose:
            await super().run_batch([job for job in jobs for _ in range(self._plan.repeat)], callback, priority)
            return
        for job in jobs:
            await self.submit(job, priority)


def _stumble() -> None:
    parse = refresh.parse_off_loop

    async def parse_and_stumble(body: bytes, **kwargs: Any) -> Any:
        if POISON.encode() in body:
            raise RecursionError("poison")
        return await parse(body, **kwargs)

    refresh.parse_off_loop = parse_and_stumble
