"""The world on SQLite and PostgreSQL, and on all four databases where that matters."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import structlog

from feedmill.archive.files import FolderBlobs
from feedmill.coordination.memory import MemoryTurns
from feedmill.outbound.addresses import AddressPolicy
from feedmill.outbound.client import Client
from feedmill.outbound.options import Limits
from feedmill.outbound.pacing import Pacer
from feedmill.store.database import Database
from tests.flows.world import World
from tests.www import ScriptedNames, Web

SHORT = Limits(connect=timedelta(seconds=1), read=timedelta(milliseconds=300), total=timedelta(seconds=2))


@asynccontextmanager
async def small_world(db: Database, folder: Path) -> AsyncIterator[World]:
    pacer = Pacer(MemoryTurns(), gap=timedelta())
    policy = AddressPolicy(["127.0.0.0/8"])
    async with Web() as web, Client(pacer, policy, "feedmill-test", SHORT, names=ScriptedNames()) as client:
        yield World(db, FolderBlobs(folder / "objects"), client, web)


@pytest.fixture
async def world(db: Database, tmp_path: Path) -> AsyncIterator[World]:
    async with small_world(db, tmp_path) as made:
        yield made


@pytest.fixture
async def any_world(any_db: Database, tmp_path: Path) -> AsyncIterator[World]:
    async with small_world(any_db, tmp_path) as made:
        yield made


@pytest.fixture
def logged() -> Iterator[list[Any]]:
    """What is logged during the test."""
    with structlog.testing.capture_logs() as lines:
        yield lines
