"""The site of the pages' tests, and somebody who is signed in."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from feedmill.library.accounts import add_account, set_up
from feedmill.model.account import Actor
from tests.browser import papers
from tests.serve.rest.site import Site, running_site
from tests.web.visitor import Visitor
from tests.www import Web


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with Web() as web, running_site(tmp_path, web) as site:
        yield site


@pytest.fixture
async def nobody(site: Site) -> httpx.AsyncClient:
    return await site.browser()


@pytest.fixture
async def alice(site: Site) -> Visitor:
    """The admin, who subscribes to two feeds, one of them in a folder."""
    user = await set_up(site.app.db, "alice", papers.PASSWORD, datetime.now(UTC))
    for paper in papers.papers(site.web.url(""))[1:3]:
        await papers.subscribe_to(site, user, paper)
    return await Visitor.signed_in(site, "alice")


@pytest.fixture
async def charlie(site: Site, alice: Visitor) -> Visitor:
    """Somebody else, with nothing."""
    await add_account(site.app.db, "charlie", papers.PASSWORD, False, datetime.now(UTC), Actor())
    return await Visitor.signed_in(site, "charlie")
