"""The site and the users of the API tests: Alice owns it, Bob shares it, Charlie must see nothing."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.scripted_web import Web
from tests.serve.rest.site import Person, Site, running_site


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with Web() as web, running_site(tmp_path, web) as site:
        yield site


@pytest.fixture
async def alice(site: Site) -> Person:
    return await site.person("alice", is_admin=True)


@pytest.fixture
async def bob(site: Site) -> Person:
    return await site.person("bob")


@pytest.fixture
async def charlie(site: Site) -> Person:
    return await site.person("charlie")


@pytest.fixture
async def nobody(site: Site) -> httpx.AsyncClient:
    return await site.browser()
