"""A listening site, and the assistants of Alice, Bob and Charlie."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from feedmill.model.user import User
from tests.library.small_library import SmallLibrary
from tests.scripted_web import Web
from tests.serve.mcp.assistant import Assistant, listening
from tests.serve.rest.site import Site, running_site


@dataclass(frozen=True)
class AssistedSite:
    """A site that listens at `url`, with a library in it."""

    site: Site
    url: str
    library: SmallLibrary

    async def user(self, name: str, **more: object) -> User:
        return (await self.site.person(name, **more)).user  # type: ignore[arg-type]


@pytest.fixture
async def assisted(tmp_path: Path) -> AsyncIterator[AssistedSite]:
    async with Web() as web, running_site(tmp_path, web) as site, listening(site.asgi) as url:
        yield AssistedSite(site, url, SmallLibrary(site.app.db))


@pytest.fixture
async def alice(assisted: AssistedSite) -> User:
    return await assisted.user("alice", is_admin=True)


@pytest.fixture
def assistant(assisted: AssistedSite, alice: User) -> Assistant:
    return Assistant(assisted.url, "fm_alice")
