"""The site of the page tests, and a user who is signed in."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from feedmill.library.users.manage_users import make_user
from feedmill.model.user import Actor
from tests.browser import sample_feeds
from tests.scripted_web import web_on_one_port
from tests.serve.rest.site import Site, running_site
from tests.serve.web.site_folder_template import copy_site_folder
from tests.serve.web.visitor import Visitor


@pytest.fixture
async def site(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Site]:
    async with web_on_one_port() as web:
        if "alice" in request.fixturenames:
            await copy_site_folder(tmp_path, web)
        async with running_site(tmp_path, web) as site:
            yield site


@pytest.fixture
async def nobody(site: Site) -> httpx.AsyncClient:
    return await site.browser()


@pytest.fixture
async def alice(site: Site) -> Visitor:
    """The admin, who subscribes to two feeds, one of them in a folder."""
    return await Visitor.signed_in(site, "alice")


@pytest.fixture
async def charlie(site: Site, alice: Visitor) -> Visitor:
    """Another user, without subscriptions."""
    await make_user(site.app.db, "charlie", sample_feeds.PASSWORD, False, datetime.now(UTC), Actor())
    return await Visitor.signed_in(site, "charlie")
