"""Validators are taken from complete responses only, and sent back unchanged or not at all."""

from datetime import UTC, datetime, timedelta

import pytest

from feedmill.model.fetch_outcome import Freshness, HttpError, NotModified, Response, Validators
from feedmill.outbound.client import Client
from tests.scripted_web import Answer, ReceivedRequest, Web

MODIFIED = "Wed, 21 Oct 2015 07:28:00 GMT"


def conditional(seen: ReceivedRequest) -> Answer:
    """A server that compares bytes."""
    headers = {"ETag": '"v1"', "Last-Modified": MODIFIED}
    return (
        Answer(status=304, headers=headers)
        if seen.headers.get("if-none-match") == '"v1"'
        else Answer(b"x", 200, headers)
    )


async def test_an_unchanged_body_is_not_sent_again(web: Web, client: Client) -> None:
    first = await client.get(web.serve("/", conditional))
    assert isinstance(first, Response)

    second = await client.get(web.url("/"), first.validators)

    assert isinstance(second, NotModified)
    assert second.validators == first.validators == Validators('"v1"', MODIFIED)
    assert web.requests[1].headers["if-modified-since"] == MODIFIED


ODD_TAGS = [
    b'"ordinary"',
    b'W/"weak"',
    b"unquoted",
    b'"a, b", "c"',
    b'"with "quotes" inside"',
    b'"',
    b"*",
    b"'single'",
    '"ünïcode 世界"'.encode(),
    b'"%00%0d%0a"',
    b'"tab\tinside"',
    b'"' + b"a" * 4000 + b'"',
    b'""',
    b'"\\"',
    b"W/",
    b"0",
]


@pytest.mark.parametrize("tag", ODD_TAGS)
async def test_an_unusual_etag_is_sent_back_unchanged(tag: bytes, web: Web, client: Client) -> None:
    url = web.serve("/", b"HTTP/1.1 200 OK\r\nETag: " + tag + b"\r\nContent-Length: 1\r\n\r\nx")
    first = await client.get(url)
    assert isinstance(first, Response)

    await client.get(url, first.validators)

    assert web.requests[1].headers["if-none-match"].encode() == tag


@pytest.mark.parametrize("tag", [b'"\xff\xfe"', b'"' + b"a" * 100_000 + b'"', b""])
async def test_an_etag_that_cannot_be_sent_back_is_dropped_and_the_body_kept(
    tag: bytes, web: Web, client: Client
) -> None:
    url = web.serve("/", b"HTTP/1.1 200 OK\r\nETag: " + tag + b"\r\nContent-Length: 1\r\n\r\nx")

    outcome = await client.get(url)

    assert isinstance(outcome, Response)
    assert outcome.validators == Validators()


@pytest.mark.parametrize("stored", ['"a\r\nX-Injected: 1"', '"a\0"', "a" * 5000, "", "\udcff"])
async def test_a_stored_validator_that_is_no_valid_header_is_not_sent(stored: str, web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", Answer(b"x")), Validators(stored, stored))

    assert isinstance(outcome, Response)
    assert not {"if-none-match", "if-modified-since", "x-injected"} & set(web.requests[0].headers)


@pytest.mark.parametrize("modified", ["yesterday", "0", "-1", "Wed, 21 Oct 2015 07:28 +0200", "2015-10-21T07:28:00Z"])
async def test_an_unusual_last_modified_is_sent_back_unchanged(modified: str, web: Web, client: Client) -> None:
    first = await client.get(web.serve("/", Answer(b"x", headers={"Last-Modified": modified})))
    assert isinstance(first, Response)

    await client.get(web.url("/"), first.validators)

    assert web.requests[1].headers["if-modified-since"] == modified


async def test_validators_are_sent_through_redirects(web: Web, client: Client) -> None:
    web.serve("/old", Answer(status=301, headers={"Location": "/new"}))
    web.serve("/new", conditional)

    outcome = await client.get(web.url("/old"), Validators('"v1"'))

    assert isinstance(outcome, NotModified)
    assert outcome.permanent_url == web.url("/new")


async def test_a_304_to_an_unconditional_request_is_an_error(web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", Answer(status=304, headers={"ETag": '"e"'})))

    assert isinstance(outcome, HttpError)


async def test_a_304_does_not_replace_the_etag_of_the_stored_body(web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", Answer(status=304, headers={"ETag": '"v2"'})), Validators('"v1"'))

    assert isinstance(outcome, NotModified)
    assert outcome.validators.etag == '"v1"'


async def test_a_304_with_a_length_does_not_wait_for_a_body(web: Web, client: Client) -> None:
    url = web.serve("/", Answer(status=304, headers={"Content-Length": "5000"}))

    assert isinstance(await client.get(url, Validators('"v1"')), NotModified)


@pytest.mark.parametrize(
    ("headers", "freshness"),
    [
        ({}, Freshness()),
        ({"Cache-Control": "max-age=600"}, Freshness(timedelta(seconds=600))),
        ({"Cache-Control": 'public, MAX-AGE = "600"'}, Freshness(timedelta(seconds=600))),
        ({"Cache-Control": "s-maxage=60, max-age=600"}, Freshness(timedelta(seconds=600))),
        ({"Cache-Control": "max-age=-1"}, Freshness()),
        ({"Cache-Control": "max-age=soon"}, Freshness()),
        ({"Cache-Control": "max-age=99999999999999"}, Freshness(timedelta(days=365))),
        ({"Cache-Control": "no-cache, no-store"}, Freshness()),
        ({"Expires": MODIFIED}, Freshness(expires=datetime(2015, 10, 21, 7, 28, tzinfo=UTC))),
        ({"Expires": "0"}, Freshness()),
        ({"Expires": "Wed, 21 Oct 99999 07:28:00 GMT"}, Freshness()),
    ],
)
async def test_the_servers_caching_headers_are_passed_on(
    headers: dict[str, str], freshness: Freshness, web: Web, client: Client
) -> None:
    outcome = await client.get(web.serve("/", Answer(b"x", headers=headers)))

    assert isinstance(outcome, Response)
    assert outcome.freshness == freshness
