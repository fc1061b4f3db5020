"""A feed's proxy is checked like any address, and so is the target as far as we can."""

import pytest

from feedmill.model.fetch_options import FetchOptions
from feedmill.model.fetch_outcome import Refused, Response, Retryable
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.outbound.client import Client
from tests.outbound.conftest import MakeClient
from tests.scripted_web import Answer, ScriptedResolver, Web


def through(web: Web, credentials: str = "") -> FetchOptions:
    return FetchOptions(proxy=f"http://{credentials}127.0.0.1:{web.port}")


async def test_the_proxy_gets_the_whole_url(web: Web, client: Client) -> None:
    web.serve("http://far.example/feed", Answer(b"from afar"))

    outcome = await client.get("http://far.example/feed", options=through(web, "bob:x@"))

    assert isinstance(outcome, Response)
    assert outcome.body == b"from afar"
    assert web.requests[0].headers["proxy-authorization"] == "Basic Ym9iOng="


async def test_a_proxy_at_a_private_address_has_to_be_allowed(web: Web, make_client: MakeClient) -> None:
    outcome = await make_client(AddressPolicy()).get("http://1.1.1.1/", options=through(web))

    assert isinstance(outcome, Refused)
    assert outcome.kind == "address"
    assert web.requests == []


@pytest.mark.parametrize(
    "target", ["http://10.0.0.1/", "http://inside.example/", "http://[::1]/", "http://0x0a000001/"]
)
async def test_a_private_address_is_not_requested_through_a_proxy(
    target: str, web: Web, names: ScriptedResolver, client: Client
) -> None:
    names.say("inside.example", ["10.0.0.1"])

    outcome = await client.get(target, options=through(web))

    assert isinstance(outcome, Refused)
    assert web.requests == []


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1080", "nonsense", ""])
async def test_anything_but_an_http_proxy_is_refused(proxy: str, client: Client) -> None:
    outcome = await client.get("http://far.example/", options=FetchOptions(proxy=proxy))

    assert isinstance(outcome, Refused)
    assert outcome.kind == "scheme"


async def test_a_proxy_that_refuses_to_connect_is_a_connection_failure(web: Web, client: Client) -> None:
    outcome = await client.get("https://far.example/", options=through(web))

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "connect"
    assert web.requests[0].method == "CONNECT"
