"""Two processes of a scaled-out installation answer the requests of one client in turn."""

from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex

import httpx2
import pytest

from feedmill.adapters.database import open_migrated_database
from feedmill.settings import load_settings
from feedmill.store.users.api_keys import add_api_key
from tests.cli.command import serving
from tests.databases import emptied
from tests.library.small_library import SmallLibrary
from tests.serve.mcp.assistant import Assistant, call_tool
from tests.services.server import Service

pytestmark = pytest.mark.external
SCOPES = ("read", "write")


class AlternatingTransport(httpx2.AsyncBaseTransport):
    """Sends each request to the next of several servers, as a proxy in front of them does."""

    def __init__(self, addresses: list[str]) -> None:
        self._urls = [httpx2.URL(address) for address in addresses]
        self._transport = httpx2.AsyncHTTPTransport()
        self.answered = [0] * len(addresses)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        turn = sum(self.answered) % len(self._urls)
        self.answered[turn] += 1
        request.url = request.url.copy_with(port=self._urls[turn].port)
        return await self._transport.handle_async_request(request)

    async def aclose(self) -> None:
        await self._transport.aclose()


@pytest.fixture
async def settings(
    request: pytest.FixtureRequest, tmp_path: Path, postgres_service: Service, redis_service: Service
) -> AsyncIterator[dict[str, str]]:
    """The settings of all processes; Alice reads two feeds."""
    async with emptied(request, "postgresql", tmp_path):
        given = {"database": postgres_service.url, "redis": redis_service.url, "secret_key": token_hex(32)}
        async with open_migrated_database(load_settings(**given)) as db:
            library = SmallLibrary(db)
            alice = await library.person("alice")
            await add_api_key(db, alice.id, "test", "fm_alice", SCOPES, library.now)
            feeds = [await library.feed(name) for name in ("news", "more")]
            for feed in feeds:
                await library.subscribe(alice, feed)
            await library.arrive(feeds[0], "Supper")
        yield given


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_two_processes_answer_one_client_in_turn(settings: dict[str, str], tmp_path: Path, mode: str) -> None:
    with ExitStack() as servers:
        addresses = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            server = servers.enter_context(serving(cwd=tmp_path / name, settings=settings, command="api"))
            addresses.append(server.address)
        turns = AlternatingTransport(addresses)
        async with Assistant(addresses[0], "fm_alice", mode).connection(turns) as client:
            listed = [await call_tool(client, "list_feeds") for _ in range(2)]
            [first, second] = [feed["id"] for feed in listed[0].facts["feeds"]]
            asked = await call_tool(client, "mark_list_read", feed_id=first)
            confirmed = {name: asked.facts[name] for name in ("up_to", "confirmation")}
            other = await call_tool(client, "mark_list_read", feed_id=second, **confirmed)
            done = await call_tool(client, "mark_list_read", feed_id=first, **confirmed)
            again = [await call_tool(client, "mark_list_read", feed_id=first, **confirmed) for _ in range(2)]
            left = await call_tool(client, "list_feeds")

    assert min(turns.answered) >= 3
    assert [answer.facts["unread"] for answer in listed] == [1, 1]
    assert (other.error, done.facts["marked"]) == ("bad_confirmation", 1)
    assert [answer.error for answer in again] == ["confirmation_used"] * 2
    assert left.facts["unread"] == 0
