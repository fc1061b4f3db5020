"""Two web processes: one takes the password, the other the code; the same code sent to both opens one session."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

import httpx
import pytest

from feedmill.adapters.database import open_migrated_database
from feedmill.encryption import Encryption
from feedmill.library.users.manage_users import make_user
from feedmill.model.user import Actor
from feedmill.settings import load_settings
from tests.browser.sample_feeds import PASSWORD
from tests.cli.command import serving
from tests.databases import emptied
from tests.library.users.second_factors import Authenticator, set_up_two_factor
from tests.services.server import Service

pytestmark = pytest.mark.external
SIGN_IN = {"name": "alice", "password": PASSWORD}
SETTINGS = {"secret_key": token_hex(32)}


@pytest.fixture
async def alice(
    request: pytest.FixtureRequest, tmp_path: Path, postgres_service: Service, redis_service: Service
) -> AsyncIterator[Authenticator]:
    """Alice has two factors."""
    async with emptied(request, "postgresql", tmp_path):
        SETTINGS.update(database=postgres_service.url, redis=redis_service.url)
        settings = load_settings(**SETTINGS)
        async with open_migrated_database(settings) as db:
            now = datetime.now(UTC)
            user = await make_user(db, "alice", PASSWORD, True, now, Actor())
            factor = await set_up_two_factor(db, user, PASSWORD, now, Encryption.of(settings))
        yield factor


@pytest.fixture
def addresses(alice: Authenticator, tmp_path: Path) -> Iterator[list[str]]:
    """Two processes of `feedmill api`."""
    with ExitStack() as servers:
        found = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            server = servers.enter_context(serving(cwd=tmp_path / name, settings=SETTINGS, command="api"))
            found.append(server.address)
        yield found


async def test_one_process_takes_the_password_and_the_other_the_code(
    addresses: list[str], alice: Authenticator
) -> None:
    one, two = addresses
    async with httpx.AsyncClient() as browser:
        await browser.post(f"{one}/login", data=SIGN_IN)
        wrong = await browser.post(f"{two}/login/code", data={"code": "000000", "with": "app"})
        sent = {"code": alice.code(datetime.now(UTC)), "with": "app"}
        right = await browser.post(f"{two}/login/code", data=sent)
        page = await browser.get(f"{one}/unread")

    assert (wrong.status_code, right.status_code, page.status_code) == (401, 303, 200)


async def test_the_same_code_sent_to_both_at_once_opens_one_session(addresses: list[str], alice: Authenticator) -> None:
    sent = SIGN_IN | {"code": alice.code(datetime.now(UTC))}
    async with httpx.AsyncClient() as client:
        answers = await asyncio.gather(*(client.post(f"{to}/api/sessions", json=sent) for to in addresses * 2))

    assert sorted(answer.status_code for answer in answers) == [201, 401, 401, 401]
