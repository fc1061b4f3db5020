"""The forwarding headers of a proxy are used only if the proxy is trusted."""

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from feedmill.serve.http.auth import origin_of
from feedmill.serve.http.connections.connection_limits import ConnectionRegistry
from feedmill.serve.http.connections.server import uvicorn_config
from feedmill.serve.http.session_cookie import set_session_cookie
from feedmill.settings import load_settings

FORWARDED = {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"}


async def show(request: Request) -> PlainTextResponse:
    response = PlainTextResponse(origin_of(request).address or "")
    set_session_cookie(response, request, "token")
    return response


async def ask(peer: str, trusted: str | None = None, **headers: str) -> tuple[str, bool]:
    """The client address that the server sees, and whether its cookie is for https alone."""
    registry = ConnectionRegistry(100, 100)
    config = uvicorn_config(Starlette(routes=[Route("/", show)]), load_settings(trusted_proxies=trusted), registry)
    config.load()
    transport = httpx.ASGITransport(config.loaded_app, client=(peer, 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://feedmill.test") as client:
        answer = await client.get("/", headers=FORWARDED | headers)
    return answer.text, "secure" in answer.headers["set-cookie"].lower()


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1"])
async def test_a_proxy_on_this_machine_is_trusted(peer: str) -> None:
    assert await ask(peer) == ("203.0.113.7", True)


async def test_a_proxy_elsewhere_is_not_trusted() -> None:
    assert await ask("198.51.100.9") == ("198.51.100.9", False)
    assert await ask("127.0.0.1", trusted="10.0.0.0/8") == ("127.0.0.1", False)


async def test_a_proxy_in_a_configured_network_is_trusted() -> None:
    assert await ask("10.1.2.3", trusted="10.0.0.0/8, 192.0.2.1") == ("203.0.113.7", True)


async def test_a_forwarding_header_that_the_client_itself_sent_is_ignored() -> None:
    lie = {"X-Forwarded-For": "127.0.0.9, 192.0.2.66, 203.0.113.7"}

    assert (await ask("127.0.0.1", **lie))[0] == "203.0.113.7"
