"""Two web processes on PostgreSQL and Redis: a sign-in begins in one and ends in the other."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

import httpx
import pytest

from feedmill.adapters.database import open_migrated_database
from feedmill.library.users.manage_users import make_user
from feedmill.model.user import Actor
from feedmill.settings import load_settings
from tests.browser.sample_feeds import PASSWORD
from tests.cli.command import serving
from tests.databases import emptied
from tests.serve.web.users.provider_site import ACCOUNTS, CALLBACK, PROVIDER_ID, provider_settings
from tests.services.oidc_provider import running_oidc_provider, sign_in_at_provider
from tests.services.server import Service

pytestmark = pytest.mark.external
# What people open; the requests of the test go to one process or the other.
PUBLIC_URL = "http://127.0.0.1"


@pytest.fixture
def provider() -> Iterator[str]:
    with running_oidc_provider(ACCOUNTS, [PUBLIC_URL + CALLBACK]) as running:
        yield running.service.url


@pytest.fixture
async def settings(
    request: pytest.FixtureRequest, tmp_path: Path, provider: str, postgres_service: Service, redis_service: Service
) -> AsyncIterator[dict[str, str]]:
    """The settings of both processes; there is an admin."""
    async with emptied(request, "postgresql", tmp_path):
        shared = {
            "secret_key": token_hex(32),
            "database": postgres_service.url,
            "redis": redis_service.url,
            "public_url": PUBLIC_URL,
            "oidc": json.dumps({PROVIDER_ID: provider_settings(provider, allowed_groups=["readers"])}),
        }
        async with open_migrated_database(load_settings(**shared)) as db:
            await make_user(db, "alice", PASSWORD, True, datetime.now(UTC), Actor())
        yield shared


@pytest.fixture
def addresses(settings: dict[str, str], tmp_path: Path) -> Iterator[list[str]]:
    """Two processes of `feedmill api`."""
    with ExitStack() as servers:
        found = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            server = servers.enter_context(serving(cwd=tmp_path / name, settings=settings, command="api"))
            found.append(server.address)
        yield found


async def test_a_sign_in_begins_in_one_process_and_ends_in_the_other(addresses: list[str]) -> None:
    one, two = addresses
    async with httpx.AsyncClient() as browser, httpx.AsyncClient() as at_provider:
        begun = await browser.get(f"{one}/login/oidc/{PROVIDER_ID}", params={"next": "/starred"})
        callback = await sign_in_at_provider(at_provider, begun.headers["location"], "sub-bob")
        cookie = browser.cookies["feedmill_oidc"]
        finished = await browser.get(callback.replace(PUBLIC_URL, two))
        me = await browser.get(f"{one}/api/me")
        again = await httpx.AsyncClient(cookies={"feedmill_oidc": cookie}).get(callback.replace(PUBLIC_URL, one))

    assert (finished.status_code, finished.headers["location"]) == (303, "/starred")
    assert me.json()["name"] == "bob"
    assert again.status_code in (403, 502)
    assert "feedmill_session" not in again.cookies
