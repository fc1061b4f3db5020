"""A process in the small: engine, handlers, scheduler and batches over the flows' world."""

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
from feedmill.run.claim_keeper import ClaimKeeper
from feedmill.run.job_handlers import JobHandlers
from feedmill.run.scheduler import Scheduler
from feedmill.store.database import Database
from tests.flows.conftest import logged, small_world
from tests.flows.world import World
from tests.waiting import LONGEST_WAIT

__all__ = ["logged"]

GRACE = timedelta(seconds=30)


@dataclass
class Mill:
    """One process: what runs in it, and a way to end it well."""

    engine: InProcessEngine
    handlers: JobHandlers
    scheduler: Scheduler
    batches: Batches

    async def stop(self, grace: timedelta = GRACE) -> None:
        undone = await self.engine.stop(grace)
        await self.handlers.keeper.release(undone)
        await self.batches.release(undone)


MakeMill = Callable[..., Mill]


def host_of(feed: Feed) -> str:
    return urlsplit(feed.url).hostname or ""


def mill_of(world: World, db: Database | None = None, at_once: int = 20, by_host: bool = False) -> Mill:
    """A process on the world's web and clock, over a connection of its own if one is given."""
    db = db or world.db
    tools = replace(world.tools, db=db)
    handlers = JobHandlers(tools, ClaimKeeper(db, tools.clock), BatchRunningCheck(db))
    engine = InProcessEngine(handlers, at_once)
    lane_of = host_of if by_host else _no_lane
    scheduler = Scheduler(db, engine, handlers, lane_of, tools.clock)
    return Mill(engine, handlers, scheduler, Batches(db, engine, handlers, lane_of, tools.clock))


def _no_lane(feed: Feed) -> str:
    return ""


@pytest.fixture
async def world(db: Database, tmp_path: Path) -> AsyncIterator[World]:
    async with small_world(db, tmp_path) as made:
        yield made


@pytest.fixture
async def mill(world: World) -> AsyncIterator[Mill]:
    async with running(world) as made:
        yield made


@asynccontextmanager
async def running(world: World, **options: int) -> AsyncIterator[Mill]:
    made = mill_of(world, **options)  # type: ignore[arg-type]
    try:
        yield made
    finally:
        async with asyncio.timeout(LONGEST_WAIT):
            await made.stop()
