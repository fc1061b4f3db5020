"""Worlds for the drills of the refresh."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from tests.databases import emptied, settings_of
from tests.faults.farm import Farm
from tests.faults.mills import Mills
from tests.faults.world import World, drill_settings
from tests.www.web import Web

MakeWorld = Callable[..., AbstractAsyncContextManager[World]]


@pytest.fixture
def make_world(request: pytest.FixtureRequest, tmp_path: Path) -> MakeWorld:
    @asynccontextmanager
    async def make(
        feeds: int, kind: str = "sqlite", data: Path = tmp_path, objects: Path = tmp_path / "objects"
    ) -> AsyncIterator[World]:
        async with Web() as web, emptied(request, kind, data) as db, Mills(tmp_path) as mills:
            settings = drill_settings(settings_of(request, kind, data), tmp_path, objects)
            world = World(Farm(web, feeds), db, mills, tmp_path, settings)
            await world.settle()
            yield world

    return make
