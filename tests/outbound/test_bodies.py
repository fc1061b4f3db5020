"""A body arrives whole and within the limits, or not at all."""

import asyncio
import time
import tracemalloc

import pytest

from feedmill.model.outcome import Refused, Response, Retryable, Validators
from feedmill.outbound.client import Client
from tests.outbound.conftest import SHORT
from tests.www import Answer, Seen, Web, Wire

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
async def test_a_whole_body_is_kept_with_its_validators(
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
async def test_a_cut_or_broken_body_is_an_error(raw: bytes, kind: str, web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", raw))

    assert isinstance(outcome, Retryable)
    assert outcome.kind in (kind, "protocol")


@pytest.mark.parametrize("head", [OK + b"Content-Length: 5000\r\n\r\n", OK + b"\r\n"])
async def test_a_connection_reset_amid_the_body_is_an_error(head: bytes, web: Web, client: Client) -> None:
    async def reset(seen: Seen, wire: Wire) -> None:
        await wire.send(head + b"half of it")
        await asyncio.sleep(0.05)
        wire.reset()

    outcome = await client.get(web.serve("/", reset))

    assert isinstance(outcome, Retryable)
    assert outcome.kind in ("truncated", "reset")


@pytest.mark.parametrize("length", ["200001", "99999999999"])
async def test_a_body_that_says_it_is_too_large_is_not_read(length: str, web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", Answer(b"x", headers={"Content-Length": length})))

    assert isinstance(outcome, Refused)
    assert outcome.kind == "too_large"


async def test_a_body_of_just_the_limit_is_fine(web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", Answer(b"x" * SHORT.max_bytes)))

    assert isinstance(outcome, Response)
    assert len(outcome.body) == SHORT.max_bytes


@pytest.mark.parametrize("head", [OK + b"\r\n", OK + b"Transfer-Encoding: chunked\r\n\r\n"])
async def test_an_endless_body_costs_bounded_memory_and_time(head: bytes, web: Web, client: Client) -> None:
    async def endless(seen: Seen, wire: Wire) -> None:
        await wire.send(head)
        piece = b"x" * 65536
        while True:
            await wire.send(b"10000\r\n" + piece + b"\r\n" if b"chunked" in head else piece)

    tracemalloc.start()
    started = time.monotonic()
    outcome = await client.get(web.serve("/", endless))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert isinstance(outcome, Refused)
    assert outcome.kind == "too_large"
    assert time.monotonic() - started < 2
    assert peak < 5_000_000


@pytest.mark.parametrize("silence", [0.05, 5])
async def test_a_body_that_drips_or_stalls_ends_at_the_deadline(silence: float, web: Web, client: Client) -> None:
    async def drip(seen: Seen, wire: Wire) -> None:
        await wire.send(OK + b"Content-Length: 10000\r\n\r\n")
        while True:
            await wire.send(b"x")
            await asyncio.sleep(silence)

    started = time.monotonic()
    outcome = await client.get(web.serve("/", drip))

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "timeout"
    assert time.monotonic() - started < 2


async def test_a_server_that_never_answers_ends_at_the_deadline(web: Web, client: Client) -> None:
    async def silent(seen: Seen, wire: Wire) -> None:
        await asyncio.sleep(60)

    outcome = await client.get(web.serve("/", silent))

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "timeout"


async def test_endless_interim_answers_end_at_the_deadline(web: Web, client: Client) -> None:
    async def interim(seen: Seen, wire: Wire) -> None:
        while True:
            await wire.send(b"HTTP/1.1 103 Early Hints\r\n\r\n")
            await asyncio.sleep(0.01)

    outcome = await client.get(web.serve("/", interim))

    assert isinstance(outcome, Retryable)


async def test_a_server_that_hangs_up_is_asked_only_once(web: Web, client: Client) -> None:
    outcome = await client.get(web.serve("/", b""))

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "reset"
    assert len(web.requests) == 1


async def test_nobody_listening_is_a_connection_failure(client: Client) -> None:
    outcome = await client.get("http://127.0.0.1:9/")

    assert isinstance(outcome, Retryable)
    assert outcome.kind == "connect"


async def test_leftovers_of_one_answer_are_not_taken_for_the_next(web: Web, client: Client) -> None:
    poison = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"

    async def smuggle(seen: Seen, wire: Wire) -> None:
        await wire.send(OK + b"Content-Length: 5\r\n\r\nhello" + poison)
        await asyncio.sleep(0.3)

    web.serve("/first", smuggle)
    web.serve("/second", Answer(b"second"))

    await client.get(web.url("/first"))
    outcome = await client.get(web.url("/second"))

    assert isinstance(outcome, Response)
    assert outcome.body == b"second"


async def test_no_more_than_so_many_requests_run_at_once(web: Web, make_client: object) -> None:
    async def slow(seen: Seen, wire: Wire) -> None:
        await asyncio.sleep(0.05)
        await wire.send(Answer(b"x").encode())

    web.serve("/", slow)
    narrow: Client = make_client(at_once=3)  # type: ignore[operator]

    await asyncio.gather(*(narrow.get(web.url("/", f"127.0.0.{number}")) for number in range(1, 13)))

    assert len(web.requests) == 12
    assert web.most_at_once == 3
