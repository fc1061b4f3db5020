"""A site with a library, and Alice with an app on it, for the tests of the APIs of reader apps."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.library.small_library import SmallLibrary
from tests.scripted_web import Web
from tests.serve.app_client import AppUser, app_user
from tests.serve.rest.site import Site, running_site


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with Web() as web, running_site(tmp_path, web) as site:
        yield site


@pytest.fixture
async def library(site: Site) -> SmallLibrary:
    return SmallLibrary(site.app.db)


@pytest.fixture
async def alice(site: Site) -> AppUser:
    return await app_user(site, "alice", allows_fever=True)
