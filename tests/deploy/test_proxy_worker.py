"""The proxy worker under the real workerd, asked as any program may ask it."""

import asyncio
import json
import socket
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.services.d1 import TOKEN, running_d1
from tests.waiting import LONGEST_WAIT

WORKER = Path(__file__).parents[2] / "deploy" / "proxy-worker"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
MOST_BYTES = 16 * 1024 * 1024
Answer = tuple[int, Any]


class Client:
    """Asks one worker and gives back the status and the decoded body."""

    def __init__(self, url: str, http: aiohttp.ClientSession) -> None:
        self.url = url
        self.http = http

    async def send(self, method: str, path: str, data: bytes, headers: dict[str, str]) -> Answer:
        async with self.http.request(method, self.url + path, data=BytesIO(data), headers=headers) as response:
            return response.status, await response.json()

    async def post(self, path: str, body: Any) -> Answer:
        return await self.send("POST", path, json.dumps(body).encode(), BEARER)

    async def query(self, sql: str, *params: Any) -> Answer:
        return await self.post("/query", {"sql": sql, "params": params})

    async def rows(self, sql: str, *params: Any) -> list[dict[str, Any]]:
        status, answer = await self.query(sql, *params)
        assert status == 200, answer
        rows: list[dict[str, Any]] = answer["results"]
        return rows

    async def batch(self, *statements: dict[str, Any]) -> Answer:
        return await self.post("/batch", {"statements": statements})


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running_d1() as service:
        yield service.url


@pytest.fixture(scope="module")
def locked_address() -> Iterator[str]:
    with running_d1(ALLOW_EXEC="0", PROXY_TOKEN_OLD=TOKEN[::-1]) as service:
        yield service.url


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
async def worker(address: str, http: aiohttp.ClientSession) -> Client:
    client = Client(address, http)
    drops = ("DROP TABLE IF EXISTS strict", "DROP TABLE IF EXISTS note")
    for sql in (*drops, "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT UNIQUE)"):
        assert await client.post("/exec", {"sql": sql}) == (200, {})
    return client


@pytest.fixture
def locked(locked_address: str, http: aiohttp.ClientSession) -> Client:
    """A worker that may not change the schema, and still knows a former token."""
    return Client(locked_address, http)


def code(answer: Answer) -> tuple[int, str]:
    status, body = answer
    assert set(body) == {"error"}
    assert body["error"]["message"]
    return status, body["error"]["code"]


# --- who may come in --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer ", TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x"],
)
@pytest.mark.parametrize("path", ["/query", "/nowhere"])
async def test_without_the_token_nothing_is_revealed(worker: Client, authorization: str | None, path: str) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}

    answer = await worker.send("POST", path, b'{"sql": "SELECT 1"}', headers)

    assert code(answer) == (401, "unauthorized")


@pytest.mark.parametrize("token", [TOKEN, TOKEN[::-1]])
async def test_both_tokens_are_valid_while_one_replaces_the_other(locked: Client, token: str) -> None:
    answer = await locked.send("POST", "/query", b'{"sql": "SELECT 1 AS one"}', {"Authorization": f"Bearer {token}"})

    assert answer[1]["results"] == [{"one": 1}]


@pytest.mark.parametrize(
    "variables",
    [
        {"PROXY_TOKEN": ""},
        {"PROXY_TOKEN": "Zq8Xn4Lw2Rk7"},
        {"PROXY_TOKEN": "change-me-please-before-you-deploy-this-worker"},
        {"PROXY_TOKEN_OLD": "a" * 40},
    ],
)
async def test_a_worker_whose_token_can_be_guessed_serves_nobody(
    variables: dict[str, str], http: aiohttp.ClientSession
) -> None:
    given = variables.get("PROXY_TOKEN") or TOKEN
    with running_d1(**variables) as service:
        client = Client(service.url, http)

        answer = await client.send("POST", "/query", b'{"sql": "SELECT 1"}', {"Authorization": f"Bearer {given}"})

    assert code(answer) == (500, "unsafe_token")
    assert next(iter(variables)) in answer[1]["error"]["message"]


def test_tokens_are_compared_as_digests_in_constant_time() -> None:
    source = (WORKER / "src" / "token.js").read_text()

    assert "timingSafeEqual" in source
    assert "===" not in source.partition("isAllowedIn")[2]


# --- what it understands ----------------------------------------------------------------------------------


async def test_an_unknown_path_is_not_found(worker: Client) -> None:
    assert code(await worker.post("/toString", {})) == (404, "not_found")


async def test_only_post_is_answered(worker: Client) -> None:
    async with worker.http.get(worker.url + "/query", headers=BEARER) as response:
        assert response.status == 405
        assert response.headers["Allow"] == "POST"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/query", b""),
        ("/query", b"{"),
        ("/query", b'"SELECT 1"'),
        ("/query", b"[]"),
        ("/query", b"null"),
        ("/query", b"{}"),
        ("/query", b'{"sql": 5}'),
        ("/query", b'{"sql": " "}'),
        ("/query", b'{"sql": "SELECT \xff"}'),
        ("/query", b'{"sql": "SELECT ?", "params": "a"}'),
        ("/query", b'{"sql": "SELECT ?", "params": [{}]}'),
        ("/query", b'{"sql": "SELECT ?", "params": [[1]]}'),
        ("/query", b'{"sql": "SELECT ?", "params": [9007199254740993]}'),
        ("/batch", b"{}"),
        ("/batch", b'{"statements": []}'),
        ("/batch", b'{"statements": [null]}'),
        ("/batch", b'{"statements": ["SELECT 1"]}'),
        ("/exec", b"{}"),
    ],
)
async def test_a_body_that_makes_no_sense_is_a_bad_request(worker: Client, path: str, body: bytes) -> None:
    assert code(await worker.send("POST", path, body, BEARER)) == (400, "bad_request")


async def first_line(worker: Client, headers: str, body: bytes) -> str:
    """How the worker's answer starts, which may come before the body is complete, and with the connection's end."""
    host, port = worker.url.removeprefix("http://").split(":")
    head = f"POST /query HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n{headers}\r\n\r\n"
    return await asyncio.to_thread(_first_line, (host, int(port)), head.encode() + body)


def _first_line(address: tuple[str, int], request: bytes) -> str:
    with socket.create_connection(address, LONGEST_WAIT) as connection:
        with suppress(ConnectionError):
            connection.sendall(request)
        return connection.makefile("rb").readline().decode()


async def test_a_body_announced_as_too_large_is_refused_unread(worker: Client) -> None:
    line = await first_line(worker, f"Content-Length: {MOST_BYTES + 1}", b"")

    assert line.startswith("HTTP/1.1 413 ")


async def test_a_body_of_unknown_length_is_read_no_further_than_its_limit(worker: Client) -> None:
    chunk = b"%x\r\n%b\r\n" % (MOST_BYTES + 1, b" " * (MOST_BYTES + 1))

    line = await first_line(worker, "Transfer-Encoding: chunked", chunk)

    assert line.startswith("HTTP/1.1 413 ")


async def test_a_body_at_the_limit_is_read(worker: Client) -> None:
    body = b'{"sql": "SELECT 1 AS one"}'.ljust(MOST_BYTES)

    status, answer = await worker.send("POST", "/query", body, BEARER)

    assert (status, answer["results"]) == (200, [{"one": 1}])


# --- what it does -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [None, 0, -1, 1.5, 2**53 - 1, "", "漢字 é 😀", 'it\'s "quoted" \\ ; --', "nul\0byte", "x" * 1_900_000],
)
async def test_bound_values_come_back_as_they_went(worker: Client, value: Any) -> None:
    assert await worker.rows("SELECT ? AS value", value) == [{"value": value}]


async def test_a_bound_value_is_never_read_as_sql(worker: Client) -> None:
    await worker.query("INSERT INTO note (text) VALUES (?)", "'); DROP TABLE note; --")

    assert await worker.rows("SELECT count(*) AS n FROM note") == [{"n": 1}]


async def test_a_query_tells_what_it_cost(worker: Client) -> None:
    _, answer = await worker.query("SELECT 1 AS one")

    assert answer["meta"]["rows_read"] == 0


@pytest.mark.parametrize(
    ("sql", "params", "expected"),
    [
        ("INSERT INTO note (text) VALUES ('taken')", [], "constraint_unique"),
        ("INSERT INTO strict (text) VALUES (NULL)", [], "constraint_not_null"),
        ("INSERT INTO strict (text) VALUES ('bad')", [], "constraint_check"),
        ("INSERT INTO strict (text, note) VALUES ('a', 77)", [], "constraint_foreign_key"),
        ("SELEC 1", [], "sql_error"),
        ("SELECT * FROM nowhere", [], "sql_error"),
        ("SELECT ?", [1, 2], "sql_error"),
        (f"SELECT {','.join('?' * 101)}", [1] * 101, "sql_error"),
        (f"SELECT '{'x' * 100_001}'", [], "sql_error"),
        ("BEGIN", [], "sql_error"),
    ],
)
async def test_a_statement_that_fails_says_why(worker: Client, sql: str, params: list[Any], expected: str) -> None:
    columns = "text TEXT NOT NULL CHECK (text <> 'bad'), note REFERENCES note"
    await worker.post("/exec", {"sql": f"CREATE TABLE strict ({columns})"})
    await worker.query("INSERT INTO note (text) VALUES ('taken')")

    assert code(await worker.query(sql, *params)) == (422, expected)


async def test_a_batch_counts_what_each_statement_changed(worker: Client) -> None:
    answer = await worker.batch(
        {"sql": "INSERT INTO note (text) VALUES (?), (?)", "params": ["a", "b"]},
        {"sql": "UPDATE note SET text = 'c' WHERE text = 'nobody'"},
        {"sql": "SELECT text FROM note ORDER BY id"},
    )

    assert answer == (
        200,
        {
            "results": [
                {"changes": 2, "results": []},
                {"changes": 0, "results": []},
                {"changes": 0, "results": [{"text": "a"}, {"text": "b"}]},
            ]
        },
    )


async def test_a_batch_that_breaks_in_the_middle_leaves_nothing(worker: Client) -> None:
    answer = await worker.batch(
        {"sql": "INSERT INTO note (id, text) VALUES (1, 'first')"},
        {"sql": "INSERT INTO note (id, text) VALUES (1, 'second')"},
        {"sql": "INSERT INTO note (id, text) VALUES (2, 'third')"},
    )

    assert code(answer) == (422, "constraint_unique")
    assert await worker.rows("SELECT * FROM note") == []


async def test_exec_takes_statements_of_several_lines(worker: Client) -> None:
    answer = await worker.post(
        "/exec", {"sql": "CREATE TRIGGER t AFTER INSERT ON note -- why\nBEGIN\n  DELETE FROM note;\nEND"}
    )

    assert answer == (200, {})


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/exec", {"sql": "SELECT 1"}),
        ("/query", {"sql": "CREATE TABLE sly (a)"}),
        ("/query", {"sql": "PRAGMA foreign_keys = OFF"}),
        ("/query", {"sql": "/* SELECT */ CREATE TABLE sly (a)"}),
        ("/query", {"sql": "SELECT 1; CREATE TABLE sly (a)"}),
        ("/query", {"sql": "SELECT 1 -- '\n; CREATE TABLE sly (a) -- '"}),
        ("/query", {"sql": "SELECT 1 /* ' */; CREATE TABLE sly (a) /* ' */"}),
        ("/batch", {"statements": [{"sql": "SELECT 1"}, {"sql": "CREATE TABLE sly (a)"}]}),
    ],
)
async def test_the_schema_stays_as_it_is_unless_exec_is_allowed(locked: Client, path: str, body: Any) -> None:
    assert code(await locked.post(path, body)) == (403, "exec_disabled")
    assert await locked.rows("SELECT name FROM sqlite_master WHERE name = 'sly'") == []


@pytest.mark.parametrize(
    "sql",
    ["SELECT ';' AS a;", "SELECT 'it''s; fine' AS a", 'SELECT 1 AS "a;b" ; ', "SELECT 1 -- ; no\n AS a"],
)
async def test_a_semicolon_that_starts_no_statement_is_harmless(locked: Client, sql: str) -> None:
    assert len(await locked.rows(sql)) == 1


def test_the_configuration_for_wrangler_names_what_the_worker_uses() -> None:
    config = tomllib.loads((WORKER / "wrangler.toml").read_text())

    assert (WORKER / config["main"]).is_file()
    assert config["d1_databases"][0]["binding"] == "DB"
    assert config["vars"]["ALLOW_EXEC"] == "0"
    assert "PROXY_TOKEN" not in config["vars"]
