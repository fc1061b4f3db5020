"""The D1 driver with a proxy that refuses, fails, sends wrong data or does not respond."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import literal, select, text

from feedmill.errors import BadSetting, DatabaseAccessDenied, DatabaseUnavailable
from feedmill.store.database import Step
from feedmill.store.drivers.d1 import D1Database
from tests.services.d1 import TOKEN, running_d1
from tests.services.server import Service, free_port
from tests.waiting import LONGEST_WAIT

pytestmark = pytest.mark.external

WRITE = [Step(text("INSERT INTO notes (id) VALUES (1)"))]


async def test_a_wrong_token_is_one_line_that_says_what_to_check(d1_service: Service) -> None:
    database = D1Database(d1_service.url, TOKEN[::-1])

    with pytest.raises(DatabaseAccessDenied, match="refuses our token: check its PROXY_TOKEN") as refused:
        await database.query(select(literal(1)))

    await database.close()
    assert "\n" not in str(refused.value)
    assert TOKEN[::-1] not in str(refused.value)


async def test_a_proxy_that_allows_no_exec_says_how_to_allow_it() -> None:
    with running_d1(ALLOW_EXEC="0") as service:
        database = D1Database(service.url, TOKEN)
        with pytest.raises(DatabaseAccessDenied, match="ALLOW_EXEC"):
            await database.exec("CREATE TABLE a (b)")
        await database.close()


async def test_a_proxy_without_a_safe_token_says_so() -> None:
    with running_d1(PROXY_TOKEN="short") as service:
        database = D1Database(service.url, "short")
        with pytest.raises(DatabaseUnavailable, match="PROXY_TOKEN is too easy to guess"):
            await database.query(select(literal(1)))
        await database.close()


@pytest.mark.parametrize("token", ["two words", "line\nbreak", "schlüssel"])
def test_a_token_that_is_no_valid_header_value_prevents_the_start(token: str) -> None:
    with pytest.raises(BadSetting, match="token must be plain") as refused:
        D1Database("https://proxy.example", token)

    assert token not in str(refused.value)


def test_an_invalid_url_prevents_the_start() -> None:
    with pytest.raises(BadSetting, match="must start with https://"):
        D1Database("d1://proxy.example", TOKEN)


async def test_a_dead_proxy_is_unavailable() -> None:
    database = D1Database(f"http://127.0.0.1:{free_port()}", TOKEN)

    with pytest.raises(DatabaseUnavailable, match="can't be reached"):
        await database.query(select(literal(1)))
    with pytest.raises(DatabaseUnavailable, match="can't be reached"):
        await database.batch(WRITE)
    await database.close()


@asynccontextmanager
async def scripted(*answers: bytes | None) -> AsyncIterator[tuple[D1Database, list[bytes]]]:
    """A proxy that gives these answers in turn (None: it closes the connection), and the requests that it got."""
    left = list(answers)
    requests: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        requests.append(head)
        length = int(head.lower().partition(b"content-length: ")[2].split()[0])
        await reader.readexactly(length)
        answer = left.pop(0)
        if answer == b"hang":
            await reader.read()
        elif answer is not None:
            writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    answer_seconds = 0.3 if b"hang" in answers else LONGEST_WAIT
    database = D1Database(f"http://127.0.0.1:{port}/", TOKEN, answer_seconds=answer_seconds)
    async with server:
        yield database, requests
        await database.close()


def answer(status: int, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


ONE = answer(200, b'{"results": [{"one": 1}]}')


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (answer(200, b"<html>hello"), "is not that of a proxy worker"),
        (answer(200, b"\xff\xfe{}"), "is not that of a proxy worker"),
        (answer(200, b'{"results": [{"one": "\xff"}]}'), "is not that of a proxy worker"),
        (answer(200, b'{"results": 5}'), "is not that of a proxy worker"),
        (answer(200, b"{}"), "is not that of a proxy worker"),
        (answer(403, b"<html>who are you"), r"HTTP 403\) is not that of a proxy worker"),
        (answer(404, b"nothing here"), r"HTTP 404\) is not that of a proxy worker"),
        (answer(302, b""), r"HTTP 302\) is not that of a proxy worker"),
        (answer(502, b"bad gateway"), r"HTTP 502\) is not that of a proxy worker"),
        (
            answer(503, b'{"error": {"code": "database_unavailable", "message": "over\\nloaded"}}'),
            "over loaded",
        ),
        (b"garbage\r\n\r\n", "can't be reached"),
        (b"hang", "did not answer within 0.3 s"),
    ],
)
async def test_a_proxy_that_sends_invalid_data_or_nothing_is_unavailable(given: bytes, why: str) -> None:
    async with scripted(given, given) as (database, requests):
        with pytest.raises(DatabaseUnavailable, match=why):
            await database.query(select(literal(1)))

        with pytest.raises(DatabaseUnavailable, match=why):
            await database.batch(WRITE)

    assert len(requests) == 2


async def test_an_answer_for_fewer_statements_than_were_sent_is_rejected() -> None:
    async with scripted(answer(200, b'{"results": []}')) as (database, _):
        with pytest.raises(DatabaseUnavailable, match="is not that of a proxy worker"):
            await database.batch(WRITE)


@pytest.mark.parametrize("lost", [None, ONE[:-5]])
async def test_a_read_that_loses_its_connection_is_retried_once(lost: bytes | None) -> None:
    async with scripted(lost, ONE, lost, lost) as (database, requests):
        assert await database.query(select(literal(1))) == [{"one": 1}]

        with pytest.raises(DatabaseUnavailable, match="can't be reached"):
            await database.query(select(literal(1)))

    assert len(requests) == 4


async def test_a_write_that_loses_its_connection_is_never_sent_again() -> None:
    async with scripted(None, None) as (database, requests):
        with pytest.raises(DatabaseUnavailable, match="can't be reached"):
            await database.batch(WRITE)
        with pytest.raises(DatabaseUnavailable, match="can't be reached"):
            await database.exec("CREATE TABLE a (b)")

    assert len(requests) == 2
