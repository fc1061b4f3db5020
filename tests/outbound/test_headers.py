"""Request headers, and response headers that are too many, too long or malformed."""

import asyncio

import pytest

from feedmill.model.fetch_options import FetchOptions
from feedmill.model.fetch_outcome import HttpError, Refused, Response, Retryable
from feedmill.outbound.client import Client
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest, Web


async def test_requests_have_an_honest_user_agent_and_accept_headers(web: Web, client: Client) -> None:
    await client.get(web.serve("/feed", Answer(b"x")))

    said = web.requests[0].headers
    assert said["user-agent"] == "feedmill-test"
    assert said["accept-encoding"] == "gzip, deflate, br, zstd"
    assert said["accept"].endswith("*/*;q=0.8")
    assert said["host"] == f"127.0.0.1:{web.port}"
    assert not {"cookie", "authorization", "referer", "if-none-match", "range"} & set(said)


async def test_a_feed_has_its_own_agent_headers_cookie_and_credentials(web: Web, client: Client) -> None:
    options = FetchOptions(("älice", "p:w"), {"X-Key": "1", "accept": "text/plain"}, "a=b; c=d", user_agent="Own/1")

    await client.get(web.serve("/", Answer(b"x")), options=options)

    said = web.requests[0].headers
    assert said["user-agent"] == "Own/1"
    assert said["x-key"] == "1"
    assert said["cookie"] == "a=b; c=d"
    assert said["authorization"] == "Basic w6RsaWNlOnA6dw=="


async def test_a_feeds_headers_cannot_change_the_structure_of_a_request(web: Web, client: Client) -> None:
    options = FetchOptions(headers={"Host": "x", "Content-Length": "9", "Range": "bytes=0-1", "Connection": "close"})

    await client.get(web.serve("/", Answer(b"x")), options=options)

    said = web.requests[0].headers
    assert said["host"] == f"127.0.0.1:{web.port}"
    assert not {"content-length", "range"} & set(said)


@pytest.mark.parametrize(
    "options",
    [
        FetchOptions(headers={"X-Key": "a\r\nX-Injected: 1"}),
        FetchOptions(cookie="a=b\r\nX-Injected: 1"),
        FetchOptions(user_agent="a\nX-Injected: 1"),
        FetchOptions(headers={"X-Injected: 1\r\nX": "a"}),
    ],
)
async def test_options_cannot_inject_lines_into_a_request(options: FetchOptions, web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", Answer(b"x")), options=options)

    assert isinstance(outcome, Refused)
    assert outcome.kind == "options"
    assert web.requests == []


async def test_cookies_are_not_kept_from_one_request_to_the_next(web: Web, client: Client) -> None:
    url = web.serve("/", Answer(b"x", headers={"Set-Cookie": "track=1; Path=/"}))

    await client.get(url)
    await client.get(url)

    assert "cookie" not in web.requests[1].headers


NOT_HTTP = {
    "empty": b"\r\n\r\n",
    "words": b"hello, this is not the web\r\n",
    "ssh": b"SSH-2.0-OpenSSH_9.2\r\n",
    "html": b"<html><body>hi</body></html>",
    "http 0.9": b"plain bytes and a close",
    "binary": bytes(range(256)),
    "http/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "version": b"HTTP/9.9 200 OK\r\n\r\n",
    "no status": b"HTTP/1.1\r\n\r\n",
    "word status": b"HTTP/1.1 OK OK\r\n\r\n",
    "huge status": b"HTTP/1.1 99999 OK\r\n\r\n",
    "no colon": b"HTTP/1.1 200 OK\r\nthis is no header\r\nContent-Length: 0\r\n\r\n",
    "nul": b"HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 0\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    "negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx",
    "word length": b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nx",
    "cut head": b"HTTP/1.1 200 OK\r\nContent-Le",
}


@pytest.mark.parametrize("case", NOT_HTTP)
async def test_a_response_that_is_not_http_is_a_failure_and_no_crash(case: str, web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", NOT_HTTP[case]))

    assert isinstance(outcome, Retryable | HttpError)


@pytest.mark.parametrize(
    "head",
    [
        b"X-Long: " + b"a" * 300_000 + b"\r\n",
        b"X" * 300_000 + b": a\r\n",
    ],
)
async def test_huge_headers_are_refused(head: bytes, web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", b"HTTP/1.1 200 OK\r\n" + head + b"Content-Length: 1\r\n\r\nx"))

    assert isinstance(outcome, Refused)
    assert outcome.kind == "headers"


@pytest.mark.parametrize("size", [1, 100_000])
async def test_too_many_headers_are_a_failure(size: int, web: Web, client: Client) -> None:
    head = b"".join(b"X-%d: %s\r\n" % (number, b"a" * size) for number in range(500))

    outcome = await client.get(web.serve("/", b"HTTP/1.1 200 OK\r\n" + head + b"Content-Length: 1\r\n\r\nx"))

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "protocol"


async def test_endless_headers_stop_at_a_limit(web: Web, client: Client) -> None:
    async def endless(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await wire.send(b"HTTP/1.1 200 OK\r\n")
        while True:
            await wire.send(b"X-More: and more\r\n" * 100)
            await asyncio.sleep(0)

    outcome = await client.get(web.serve("/", endless))

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "protocol"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"text/xml; charset=utf-8", "text/xml; charset=utf-8"),
        ("text/xml; title=é".encode(), "text/xml; title=é"),
        ("text/xml; title=é".encode("latin-1"), "text/xml; title=é"),
        (b"", ""),
        (b";;;", ";;;"),
    ],
)
async def test_the_content_type_is_passed_on_unchanged(raw: bytes, text: str, web: Web, client: Client) -> None:
    url = web.serve("/", b"HTTP/1.1 200 OK\r\nContent-Type: " + raw + b"\r\nContent-Length: 1\r\n\r\nx")

    outcome = await client.get(url)

    assert isinstance(outcome, Response)
    assert outcome.content_type == text


async def test_repeated_headers_are_joined(web: Web, client: Client) -> None:
    lines = b"Link: <http://hub.example>; rel=hub\r\nLINK: </feed>; rel=self\r\n"

    outcome = await client.get(web.serve("/", b"HTTP/1.1 200 OK\r\n" + lines + b"Content-Length: 1\r\n\r\nx"))

    assert isinstance(outcome, Response)
    assert outcome.headers["link"] == "<http://hub.example>; rel=hub, </feed>; rel=self"


async def test_simultaneous_requests_share_one_session(client: Client) -> None:
    first, second = await asyncio.gather(client._open_session(), client._open_session())

    assert first is second
