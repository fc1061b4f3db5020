"""A client that is too slow is disconnected; one on a slow but steady line is not."""

import asyncio
from collections.abc import AsyncIterator
from itertools import repeat

import pytest

from tests.serve.http.connections.short_deadlines import LARGE, TimedSite, head, timed_site
from tests.waiting import slow_pace

# A real server with real deadlines.
pytestmark = pytest.mark.external

LONG = 60
# The deadline for a client that responds at once.
SHORT = 2
# The deadline for a client that sends fifteen times within it, for longer than it.
STEADY = 4


@pytest.fixture
async def site() -> AsyncIterator[TimedSite]:
    """All deadlines are long, except those that the test sets."""
    async with timed_site(header_seconds=LONG, body_seconds=LONG, send_seconds=LONG, keep_alive_seconds=LONG) as site:
        yield site


async def test_a_client_that_sends_nothing_is_disconnected() -> None:
    async with timed_site(header_seconds=0.5) as site:
        client = await site.connect()

        assert await client.receive_all() == b""
        assert site.registry.dropped == {"no_request": 1}


async def test_a_client_that_sends_its_headers_byte_by_byte_gets_an_error_and_is_disconnected() -> None:
    async with timed_site(header_seconds=SHORT) as site:
        client = await site.connect()
        answering = asyncio.create_task(client.receive_all())
        slow_head = head("GET", "/", "X-Slow: " + "x" * 10_000)
        await client.send_slowly((bytes([byte]) for byte in slow_head), answering.done)

        answer = await answering

        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"connection: close" in answer
        assert site.registry.dropped == {"slow_headers": 1}


async def test_the_deadline_for_headers_restarts_with_every_request() -> None:
    async with timed_site(header_seconds=SHORT, keep_alive_seconds=LONG) as site:
        client = await site.connect()
        for _ in range(4):
            assert b"200 OK" in await client.get("/")
            await slow_pace(SHORT / 3)

        assert not site.registry.dropped


async def test_the_headers_of_a_second_request_have_a_deadline_too() -> None:
    async with timed_site(header_seconds=SHORT, keep_alive_seconds=LONG) as site:
        client = await site.connect()
        await client.get("/")
        await client.send(b"GET / HT")

        assert (await client.receive_all()).startswith(b"HTTP/1.1 408 ")


async def test_empty_lines_between_requests_do_not_keep_a_connection_open() -> None:
    async with timed_site(keep_alive_seconds=1) as site:
        client = await site.connect()
        await client.get("/")
        answering = asyncio.create_task(client.receive_all())
        await client.send_slowly(repeat(b"\r\n"), lambda: answering.done() or bool(site.registry.dropped))

        assert await answering == b""


async def test_headers_without_end_are_refused(site: TimedSite) -> None:
    client = await site.connect()
    await client.send(b"GET / HTTP/1.1\r\n")
    answering = asyncio.create_task(client.receive_all())
    try:
        while not answering.done():
            await client.send(b"X-More: " + b"x" * 10_000 + b"\r\n")
            await asyncio.sleep(0)
    except (ConnectionResetError, BrokenPipeError):
        pass

    await answering
    assert site.registry.dropped == {"large_headers": 1}


async def test_trailers_of_a_chunked_body_are_ignored(site: TimedSite) -> None:
    client = await site.connect()
    await client.send(head("POST", "/upload", "Transfer-Encoding: chunked") + b"3\r\nabc\r\n0\r\n")
    await client.send(b"X-Trailer: 1\r\n\r\n")

    assert b"ok 3" in await client.receive_until(b"ok 3")


async def test_a_client_that_stops_sending_its_body_is_disconnected() -> None:
    async with timed_site(body_seconds=0.5) as site:
        client = await site.connect()
        await client.send(head("POST", "/upload", "Content-Length: 100000") + bytes(50_000))

        assert (await client.receive_all()).startswith(b"HTTP/1.1 408 ")
        assert site.registry.dropped == {"slow_body": 1}


async def test_a_client_that_drips_its_body_is_disconnected() -> None:
    async with timed_site(body_seconds=0.5) as site:
        client = await site.connect()
        await client.send(head("POST", "/upload", "Content-Length: 100000"))
        answering = asyncio.create_task(client.receive_all())
        await client.send_slowly(repeat(b"x"), answering.done)

        await answering
        assert site.registry.dropped == {"slow_body": 1}


async def test_a_large_upload_on_a_slow_but_steady_line_succeeds() -> None:
    async with timed_site(header_seconds=STEADY, body_seconds=STEADY) as site:
        client = await site.connect()
        await client.send(head("POST", "/upload", "Content-Length: 50000"))
        await client.send_slowly(repeat(bytes(2000), 25), lambda: False, pause=STEADY / 15)

        assert b"ok 50000" in await client.receive_until(b"ok 50000")
        assert not site.registry.dropped


async def test_a_client_that_waits_for_100_continue_is_not_slow() -> None:
    async with timed_site(header_seconds=STEADY, body_seconds=SHORT) as site:
        client, silent = await site.connect(), await site.connect()
        await client.send(head("POST", "/late-upload", "Content-Length: 3", "Expect: 100-continue"))
        assert await silent.receive_all() == b""

        site.finish.set()
        await client.receive_until(b"100 Continue\r\n\r\n")
        await client.send(b"abc")

        assert b"ok 3" in await client.receive_until(b"ok 3")


async def test_a_client_whose_body_we_do_not_read_yet_is_not_slow() -> None:
    async with timed_site(header_seconds=STEADY, body_seconds=SHORT) as site:
        client, silent = await site.connect(), await site.connect()
        sending = asyncio.create_task(
            client.send(head("POST", "/late-upload", "Content-Length: 8000000") + bytes(8_000_000))
        )
        assert await silent.receive_all() == b""

        site.finish.set()
        await sending

        assert b"ok 8000000" in await client.receive_until(b"ok 8000000")


async def test_the_rest_of_a_body_that_was_refused_is_not_waited_for() -> None:
    async with timed_site(body_seconds=0.5) as site:
        client = await site.connect()
        await client.send(head("POST", "/refuse-upload", "Content-Length: 100000"))
        await client.receive_until(b"too large")
        await client.send_slowly(repeat(bytes(200)), lambda: bool(site.registry.dropped))

        await site.until_dropped("slow_body")
        assert site.registry.dropped == {"slow_body": 1}


async def test_a_client_that_does_not_read_its_response_is_disconnected() -> None:
    async with timed_site(send_seconds=0.5) as site:
        client = await site.connect()
        await client.send(head("GET", "/large"))

        await site.until_dropped("slow_reading")
        await site.until(lambda: len(site.registry) == 0)
        assert len(await client.receive_all()) < LARGE


async def test_a_client_that_requests_close_and_does_not_read_is_disconnected() -> None:
    async with timed_site(send_seconds=0.5) as site:
        client = await site.connect()
        await client.send(head("GET", "/large", "Connection: close"))

        await site.until_dropped("slow_reading")
        await site.until(lambda: len(site.registry) == 0)
        client.close()


async def test_a_client_that_stops_reading_a_stream_is_disconnected() -> None:
    async with timed_site(send_seconds=0.5) as site:
        client = await site.connect()
        await client.send(head("GET", "/flood"))
        await client.receive()

        await site.until_dropped("slow_reading")
        await site.until(lambda: len(site.registry) == 0)
        client.close()


async def test_a_client_that_reads_slowly_but_steadily_is_not_disconnected() -> None:
    async with timed_site(send_seconds=STEADY) as site:
        client = await site.connect(slow_line=True)
        await client.send(head("GET", "/large"))
        for _ in range(25):
            assert await client.receive(20_000)
            await slow_pace(STEADY / 15)

        assert not site.registry.dropped
        client.close()


async def test_an_event_stream_outlives_every_deadline() -> None:
    async with timed_site(header_seconds=SHORT, body_seconds=0.5, send_seconds=0.5, keep_alive_seconds=0.5) as site:
        client = await site.connect()
        await client.send(head("GET", "/events"))

        assert b"data: 39\n\n" in await client.receive_until(b"data: 39\n\n")


async def test_a_slow_handler_does_not_count_against_the_client() -> None:
    async with timed_site(header_seconds=SHORT, body_seconds=0.5, send_seconds=0.5, keep_alive_seconds=0.5) as site:
        slow, idle = await site.connect(), await site.connect()
        await slow.send(head("GET", "/waiting"))
        assert await idle.receive_all() == b""

        site.finish.set()

        assert (await slow.receive_until(b"ok")).endswith(b"ok")


async def test_an_idle_connection_is_kept_as_long_as_the_setting_says() -> None:
    async with timed_site(header_seconds=SHORT, keep_alive_seconds=4 * SHORT) as site:
        kept, silent = await site.connect(), await site.connect()
        await kept.get("/")
        assert await silent.receive_all() == b""

        assert b"200 OK" in await kept.get("/")
        assert await kept.receive_all() == b""
        assert site.registry.dropped["no_request"] == 1


async def test_requests_in_one_packet_are_all_answered(site: TimedSite) -> None:
    client = await site.connect()
    await client.send(head("GET", "/") * 2 + head("GET", "/", "Connection: close"))

    assert (await client.receive_all()).count(b"200 OK") == 3
