"""A body arrives complete and within the limits, or not at all."""

import asyncio
import tracemalloc
from dataclasses import replace

import pytest

from feedmill.model.fetch_outcome import Refused, Response, Retryable, Validators
from feedmill.outbound.client import Client
from feedmill.outbound.content_encoding import BodyDecoder
from feedmill.outbound.fetch_limits import FetchLimits
from tests.outbound.conftest import PATIENT, SHORT, MakeClient
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest, Web
from tests.waiting import slow_pace, until

OK = b'HTTP/1.1 200 OK\r\nETag: "e"\r\n'


@pytest.mark.parametrize(
    ("raw", "body", "delimited"),
    [
        (OK + b"Content-Length: 5\r\n\r\nhello", b"hello", True),
        (OK + b"Content-Length: 0\r\n\r\n", b"", True),
        (OK + b"\r\nhello", b"hello", False),
        (b'HTTP/1.0 200 OK\r\nETag: "e"\r\n\r\nhello', b"hello", False),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;ext=1\r\nllo\r\n0\r\n\r\n", b"hello", True),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n", b"hello", True),
    ],
)
async def test_a_complete_body_is_returned_with_its_validators(
    raw: bytes, body: bytes, delimited: bool, web: Web, client: Client
) -> None:
    outcome = await client.get(web.serve("/", raw))

    assert isinstance(outcome, Response)
    assert (outcome.body, outcome.delimited, outcome.validators) == (body, delimited, Validators('"e"'))


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (OK + b"Content-Length: 50\r\n\r\nhello", "truncated"),
        (OK + b"Content-Length: 5\r\n\r\nhello and more", "protocol"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel", "truncated"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "truncated"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n", "truncated"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n", "truncated"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nhello", "truncated"),
        (OK + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", "decoding"),
        (OK + b"Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", "truncated"),
    ],
)
async def test_a_truncated_or_broken_body_is_an_error(raw: bytes, kind: str, web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", raw))

    assert isinstance(outcome, Retryable)
    assert outcome.kind in (kind, "protocol")


@pytest.mark.parametrize("head", [OK + b"Content-Length: 5000\r\n\r\n", OK + b"\r\n"])
async def test_a_connection_reset_within_the_body_is_an_error(
    head: bytes, web: Web, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    half_is_read = asyncio.Event()

    feed = BodyDecoder.feed

    def note(body: BodyDecoder, data: bytes) -> None:
        feed(body, data)
        half_is_read.set()

    async def reset(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await wire.send(head + b"half of it")
        await half_is_read.wait()
        wire.reset()

    monkeypatch.setattr(BodyDecoder, "feed", note)
    outcome = await client.get(web.serve("/", reset))

    assert isinstance(outcome, Retryable)
    assert outcome.kind in ("truncated", "reset")


@pytest.mark.parametrize("length", ["200001", "99999999999"])
async def test_a_body_with_a_content_length_above_the_limit_is_not_read(length: str, web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", Answer(b"x", headers={"Content-Length": length})))

    assert isinstance(outcome, Refused)
    assert outcome.kind == "too_large"


async def test_a_body_of_exactly_the_limit_is_accepted(web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", Answer(b"x" * PATIENT.max_bytes)))

    assert isinstance(outcome, Response)
    assert len(outcome.body) == PATIENT.max_bytes


@pytest.mark.parametrize("head", [OK + b"\r\n", OK + b"Transfer-Encoding: chunked\r\n\r\n"])
async def test_an_endless_body_uses_bounded_memory_and_traffic(head: bytes, web: Web, client: Client) -> None:
    pieces = 0

    async def endless(seen: ReceivedRequest, wire: ClientConnection) -> None:
        nonlocal pieces
        await wire.send(head)
        piece = b"x" * 65536
        while True:
            await wire.send(b"10000\r\n" + piece + b"\r\n" if b"chunked" in head else piece)
            pieces += 1

    tracemalloc.start()
    outcome = await client.get(web.serve("/", endless))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert isinstance(outcome, Refused)
    assert outcome.kind == "too_large"
    # What the buffers of two sockets hold.
    assert pieces * 65536 < 50_000_000
    assert peak < 5_000_000


async def test_a_body_that_drips_is_abandoned_at_the_deadline(web: Web, make_client: MakeClient) -> None:
    async def drip(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await wire.send(OK + b"Content-Length: 100000\r\n\r\n")
        while True:
            await wire.send(b"x")
            await slow_pace()

    client = make_client(limits=replace(PATIENT, total=SHORT))
    outcome = await client.get(web.serve("/", drip))

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "timeout"


async def test_a_body_that_stalls_times_out(web: Web, make_client: MakeClient) -> None:
    async def stall(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await wire.send(OK + b"Content-Length: 10000\r\n\r\nx")
        await asyncio.Event().wait()

    client = make_client(limits=replace(PATIENT, read=SHORT))
    outcome = await client.get(web.serve("/", stall))

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "timeout"


@pytest.mark.parametrize("limits", [replace(PATIENT, read=SHORT), replace(PATIENT, total=SHORT)])
async def test_a_server_that_never_responds_is_abandoned_at_the_deadline(
    limits: FetchLimits, web: Web, make_client: MakeClient
) -> None:
    async def silent(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await asyncio.Event().wait()

    outcome = await make_client(limits=limits).get(web.serve("/", silent))

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "timeout"


async def test_endless_1xx_responses_are_abandoned_at_the_deadline(web: Web, make_client: MakeClient) -> None:
    async def interim(seen: ReceivedRequest, wire: ClientConnection) -> None:
        while True:
            await wire.send(b"HTTP/1.1 103 Early Hints\r\n\r\n")
            await slow_pace(0.01)

    client = make_client(limits=replace(PATIENT, total=SHORT))
    outcome = await client.get(web.serve("/", interim))

    assert isinstance(outcome, Retryable)


async def test_a_request_is_not_repeated_when_the_server_closes_the_connection(web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", b""))

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "reset"
    assert len(web.requests) == 1


async def test_a_closed_port_is_a_connection_failure(client: Client) -> None:
    outcome = await client.get("http://127.0.0.1:9/")

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "connect"


async def test_leftover_bytes_of_one_response_are_not_read_as_the_next(web: Web, client: Client) -> None:
    poison = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"

    async def smuggle(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await wire.send(OK + b"Content-Length: 5\r\n\r\nhello" + poison)
        await asyncio.Event().wait()

    web.serve("/first", smuggle)
    web.serve("/second", Answer(b"second"))

    await client.get(web.url("/first"))
    outcome = await client.get(web.url("/second"))

    assert isinstance(outcome, Response)
    assert outcome.body == b"second"


async def test_the_number_of_concurrent_requests_is_limited(web: Web, client: Client, make_client: MakeClient) -> None:
    gate = asyncio.Event()

    async def slow(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await gate.wait()
        await wire.send(Answer(b"x").encode())

    web.serve("/", slow)
    web.serve("/later", Answer(b"x"))
    narrow = make_client(at_once=3)

    running = [asyncio.create_task(narrow.get(web.url("/", f"127.0.0.{number}"))) for number in range(1, 13)]
    await until(lambda: len(web.requests) == 3)
    # Everything that was sent at the same time has arrived before this.
    await client.get(web.url("/later"))
    came_at_once = len(web.seen("/"))
    gate.set()
    await asyncio.gather(*running)

    assert (came_at_once, len(web.seen("/"))) == (3, 12)
