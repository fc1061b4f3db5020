"""A site, a library, and apps of Alice and Charlie that have signed in."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.library.small_library import SmallLibrary
from tests.scripted_web import Web
from tests.serve.app_client import AppUser, GreaderApp, app_user, sign_in
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
    return await app_user(site, "alice")


@pytest.fixture
async def app(alice: AppUser) -> GreaderApp:
    return await sign_in(alice)


@pytest.fixture
async def charlies_app(site: Site) -> GreaderApp:
    return await sign_in(await app_user(site, "charlie"))
