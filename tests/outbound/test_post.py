"""A POST has the same address checks, and never goes to another host than the one named."""

from feedmill.model.fetch_options import FetchOptions
from feedmill.model.fetch_outcome import Gone, HttpError, Refused, Response, Retryable
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.outbound.client import Client
from feedmill.outbound.redirects import RequestPayload
from tests.outbound.conftest import MakeClient
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest, Web

NEWS = RequestPayload(b'{"new": 1}', "application/json")


async def test_a_post_arrives_with_its_type_and_headers(web: Web, client: Client) -> None:
    url = web.serve("/hook", Answer(b"thanks", 202))

    outcome = await client.post(url, NEWS, options=FetchOptions(headers={"X-Signature": "s"}))

    assert isinstance(outcome, Response)
    seen = web.requests[0]
    assert (seen.method, seen.body) == ("POST", NEWS.body)
    assert (seen.headers["content-type"], seen.headers["x-signature"]) == ("application/json", "s")


async def test_a_post_does_not_follow_redirects(web: Web, client: Client) -> None:
    outcome = await client.post(web.serve("/hook", Answer(status=307, headers={"Location": "/other"})), NEWS)

    assert isinstance(outcome, HttpError)
    assert len(web.requests) == 1


async def test_a_post_reaches_no_private_address(web: Web, make_client: MakeClient) -> None:
    outcome = await make_client(AddressPolicy()).post(web.url("/hook"), NEWS)

    assert isinstance(outcome, Refused)
    assert web.requests == []


async def test_a_410_is_reported_as_gone(web: Web, client: Client) -> None:
    assert isinstance(await client.post(web.serve("/hook", Answer(status=410)), NEWS), Gone)


async def test_a_post_on_an_idle_connection_that_the_server_closes_is_retried(web: Web, client: Client) -> None:
    async def answer_once(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await wire.send(Answer(status=204).encode())
        await wire.until_asked_again()

    url = web.serve("/hook", answer_once)

    outcomes = [await client.post(url, NEWS) for _ in range(3)]

    assert [type(outcome) for outcome in outcomes] == [Response] * 3
    assert [seen.body for seen in web.requests] == [NEWS.body] * 3


async def test_a_post_on_a_new_connection_that_the_server_closes_is_not_retried(web: Web, client: Client) -> None:
    outcome = await client.post(web.serve("/hook", b""), NEWS)

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "reset"
    assert len(web.requests) == 1
