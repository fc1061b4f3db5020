"""Something sent goes through the same door, to the one who was named and nobody else."""

from feedmill.model.outcome import Gone, HttpError, Refused, Response
from feedmill.outbound.addresses import AddressPolicy
from feedmill.outbound.client import Client
from feedmill.outbound.options import FetchOptions
from feedmill.outbound.trip import Payload
from tests.outbound.conftest import MakeClient
from tests.www import Answer, Web

NEWS = Payload(b'{"new": 1}', "application/json")


async def test_what_is_posted_arrives_with_its_type_and_headers(web: Web, client: Client) -> None:
    url = web.serve("/hook", Answer(b"thanks", 202))

    outcome = await client.post(url, NEWS, options=FetchOptions(headers={"X-Signature": "s"}))

    assert isinstance(outcome, Response)
    seen = web.requests[0]
    assert (seen.method, seen.body) == ("POST", NEWS.body)
    assert (seen.headers["content-type"], seen.headers["x-signature"]) == ("application/json", "s")


async def test_a_post_is_not_sent_on_by_a_redirect(web: Web, client: Client) -> None:
    outcome = await client.post(web.serve("/hook", Answer(status=307, headers={"Location": "/other"})), NEWS)

    assert isinstance(outcome, HttpError)
    assert len(web.requests) == 1


async def test_a_post_reaches_no_private_address(web: Web, make_client: MakeClient) -> None:
    outcome = await make_client(AddressPolicy()).post(web.url("/hook"), NEWS)

    assert isinstance(outcome, Refused)
    assert web.requests == []


async def test_a_receiver_that_is_gone_says_so(web: Web, client: Client) -> None:
    assert isinstance(await client.post(web.serve("/hook", Answer(status=410)), NEWS), Gone)
