"""Environments for tests that make parts of the product fail."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from tests.databases import emptied, settings_of
from tests.faults.fault_environment import FaultEnvironment, fault_settings
from tests.faults.feed_server import FeedServer
from tests.faults.processes import FeedmillProcesses
from tests.scripted_web.server import Web

MakeEnvironment = Callable[..., AbstractAsyncContextManager[FaultEnvironment]]


@pytest.fixture
def make_environment(request: pytest.FixtureRequest, tmp_path: Path) -> MakeEnvironment:
    @asynccontextmanager
    async def make(
        feeds: int, kind: str = "sqlite", data: Path = tmp_path, objects: Path = tmp_path / "objects"
    ) -> AsyncIterator[FaultEnvironment]:
        async with Web() as web, emptied(request, kind, data) as db, FeedmillProcesses(tmp_path) as processes:
            settings = fault_settings(settings_of(request, kind, data), tmp_path, objects)
            env = FaultEnvironment(FeedServer(web, feeds), db, processes, tmp_path, settings)
            await env.subscribe_alice()
            yield env

    return make
