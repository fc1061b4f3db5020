"""An embedded process: engine, handlers, scheduler and batches over the refresh environment."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from feedmill.engine.in_process import InProcessEngine
from feedmill.model.feed import Feed
from feedmill.run.batch_running_check import BatchRunningCheck
from feedmill.run.batches import Batches
from feedmill.run.held_claims import HeldClaims
from feedmill.run.job_handlers import JobHandlers
from feedmill.run.scheduler import Scheduler
from feedmill.store.database import Database
from tests.flows.conftest import logged, open_environment
from tests.flows.refresh_environment import RefreshEnvironment
from tests.waiting import LONGEST_WAIT

__all__ = ["logged"]

GRACE = timedelta(seconds=30)


@dataclass
class EmbeddedProcess:
    """The parts of one process, and their shutdown."""

    engine: InProcessEngine
    handlers: JobHandlers
    scheduler: Scheduler
    batches: Batches

    async def stop(self, grace: timedelta = GRACE) -> None:
        undone = await self.engine.stop(grace)
        await self.handlers.held_claims.release(undone)
        await self.batches.release(undone)


MakeProcess = Callable[..., EmbeddedProcess]


def host_of(feed: Feed) -> str:
    return urlsplit(feed.url).hostname or ""


def process_of(
    env: RefreshEnvironment, db: Database | None = None, at_once: int = 20, by_host: bool = False
) -> EmbeddedProcess:
    """A process with the environment's web and clock, on another connection if one is given."""
    db = db or env.db
    tools = replace(env.tools, db=db)
    handlers = JobHandlers(tools, HeldClaims(db, tools.clock), BatchRunningCheck(db))
    engine = InProcessEngine(handlers, at_once)
    lane_of = host_of if by_host else _no_lane
    scheduler = Scheduler(db, engine, handlers, lane_of, tools.clock)
    return EmbeddedProcess(engine, handlers, scheduler, Batches(db, engine, handlers, lane_of, tools.clock))


def _no_lane(feed: Feed) -> str:
    return ""


@pytest.fixture
async def env(db: Database, tmp_path: Path) -> AsyncIterator[RefreshEnvironment]:
    async with open_environment(db, tmp_path) as made:
        yield made


@pytest.fixture
async def process(env: RefreshEnvironment) -> AsyncIterator[EmbeddedProcess]:
    async with running(env) as made:
        yield made


@asynccontextmanager
async def running(env: RefreshEnvironment, **options: int) -> AsyncIterator[EmbeddedProcess]:
    made = process_of(env, **options)  # type: ignore[arg-type]
    try:
        yield made
    finally:
        async with asyncio.timeout(LONGEST_WAIT):
            await made.stop()
