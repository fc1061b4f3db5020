"""A hub and a site, on SQLite and PostgreSQL."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.databases import emptied, settings_of
from tests.websub.hub import WebSubHub, running_hub
from tests.websub.pushed_site import PushedSite, pushed_site


@pytest.fixture
def hub() -> Iterator[WebSubHub]:
    with running_hub() as hub:
        yield hub


@pytest.fixture(params=["sqlite", "postgresql"])
async def pushed(request: pytest.FixtureRequest, tmp_path: Path, hub: WebSubHub) -> AsyncIterator[PushedSite]:
    """A site whose feed has the entry `old`."""
    kind = request.param
    async with emptied(request, kind, tmp_path):
        settings = {} if kind == "sqlite" else settings_of(request, kind, tmp_path)
        async with pushed_site(tmp_path, hub, **settings) as made:
            await made.prepare("old")
            yield made
