"""The refresh environment on SQLite and PostgreSQL, and on all four databases where that matters."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import structlog

from feedmill.archive.files import FolderBlobs
from feedmill.coordination.memory import MemoryHostSlots
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.outbound.client import Client
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.outbound.host_pacing import Pacer
from feedmill.store.database import Database
from tests.flows.refresh_environment import RefreshEnvironment
from tests.scripted_web import ScriptedResolver, Web
from tests.waiting import LONGEST_WAIT

# Longer than any response takes on a busy machine.
PATIENT = FetchLimits(
    connect=timedelta(seconds=LONGEST_WAIT),
    read=timedelta(seconds=LONGEST_WAIT),
    total=timedelta(seconds=LONGEST_WAIT),
)


@asynccontextmanager
async def open_environment(db: Database, folder: Path) -> AsyncIterator[RefreshEnvironment]:
    pacer = Pacer(MemoryHostSlots(), gap=timedelta())
    policy = AddressPolicy(["127.0.0.0/8"])
    async with Web() as web, Client(pacer, policy, "feedmill-test", PATIENT, resolver=ScriptedResolver()) as client:
        yield RefreshEnvironment(db, FolderBlobs(folder / "objects"), client, web)


@pytest.fixture
async def env(db: Database, tmp_path: Path) -> AsyncIterator[RefreshEnvironment]:
    async with open_environment(db, tmp_path) as made:
        yield made


@pytest.fixture
async def any_env(any_db: Database, tmp_path: Path) -> AsyncIterator[RefreshEnvironment]:
    async with open_environment(any_db, tmp_path) as made:
        yield made


@pytest.fixture
def logged() -> Iterator[list[Any]]:
    """The log events of the test."""
    with structlog.testing.capture_logs() as lines:
        yield lines
