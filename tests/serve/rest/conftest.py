"""The site and the users of the API tests: Alice owns it, Bob shares it, Charlie must see nothing."""

import httpx
import pytest

from tests.serve.rest.site import Person, Site


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
