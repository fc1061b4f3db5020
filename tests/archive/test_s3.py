import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import aiohttp
import obstore
import pytest

from feedmill.archive.blobs import Blobs
from feedmill.archive.object_store_config import S3Config
from feedmill.archive.s3 import S3Blobs
from feedmill.errors import BlobError, BlobMissing, BlobUnavailable
from tests.services.s3 import s3_config
from tests.services.server import Service, free_port
from tests.virtual_time import jump
from tests.waiting import LONGEST_WAIT

KEY = "images/1/ab12cd34/0.png"
SHORT = timedelta(seconds=1)
CALLS = ["put", "get", "list", "delete"]


@pytest.fixture
def config(s3_service: Service) -> S3Config:
    return s3_config(s3_service, prefix=f"s3/{uuid4().hex}")


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as server:
        yield server.getsockname()[1]


@asynccontextmanager
async def answering(status: str, seen: list[bytes]) -> AsyncIterator[int]:
    """A server that gives every request the same answer."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


def at(port: int, **changes: object) -> S3Blobs:
    values = {
        "endpoint": f"http://127.0.0.1:{port}",
        "access_key": "key",
        "secret_key": "hush",
        "timeout": SHORT,
    }
    return S3Blobs(S3Config("media", **{**values, **changes}))  # type: ignore[arg-type]


async def do(call: str, blobs: Blobs) -> None:
    match call:
        case "put":
            await blobs.put(KEY, b"x", "image/png")
        case "get":
            await blobs.get(KEY)
        case "list":
            [blob async for blob in blobs.list_keys("")]
        case "delete":
            await blobs.delete_many([KEY])


async def fetch(url: str) -> tuple[int, str, bytes]:
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return response.status, response.content_type, await response.read()


def assert_one_clean_line(error: BaseException) -> None:
    assert "\n" not in str(error)
    assert "hush" not in str(error)
    assert len(str(error)) < 200


@pytest.mark.parametrize("key", [KEY, "Größe/50 %+&?#.png", "a//../b"])
async def test_a_signed_url_gives_the_object_with_its_content_type(config: S3Config, key: str) -> None:
    blobs = S3Blobs(config)
    await blobs.put(key, b"\x89PNG", "image/png")

    url = await blobs.url(key, timedelta(minutes=5))

    assert url is not None
    assert await fetch(url) == (200, "image/png", b"\x89PNG")


async def test_only_images_have_a_public_address() -> None:
    blobs = at(1, images_base_url="https://cdn.example")

    image = await blobs.url("images/1/0cc175b9/0.png", timedelta(minutes=5))
    body = await blobs.url("backups/1/2026-02-18T08:30:00Z.xml", timedelta(minutes=5))

    assert image == "https://cdn.example/images/1/0cc175b9/0.png"
    assert body is not None
    assert body.startswith("http://127.0.0.1:1/")


async def test_a_url_without_its_signature_opens_nothing(config: S3Config) -> None:
    blobs = S3Blobs(config)
    await blobs.put(KEY, b"x", "image/png")

    url = await blobs.url(KEY, timedelta(minutes=5))

    assert url is not None
    assert (await fetch(url.partition("?")[0]))[0] == 403


async def test_a_signed_url_never_asks_for_more_life_than_s3_gives() -> None:
    url = await at(1).url(KEY, timedelta(days=30))

    assert url is not None
    assert parse_qs(urlsplit(url).query)["X-Amz-Expires"] == [str(7 * 24 * 3600)]


@pytest.mark.parametrize(
    ("prefix", "key", "url"),
    [
        ("", KEY, f"https://img.example.org/{KEY}"),
        ("feed/mill", KEY, f"https://img.example.org/feed/mill/{KEY}"),
        ("", "Ä.png", "https://img.example.org/%25c3%2584.png"),
    ],
)
async def test_a_public_address_stands_before_the_path(prefix: str, key: str, url: str) -> None:
    blobs = at(1, prefix=prefix, public_url="https://img.example.org")

    assert await blobs.url(key, timedelta(minutes=5)) == url


async def test_a_bucket_that_browsers_cannot_reach_gives_no_address() -> None:
    assert await at(1, direct=False).url(KEY, timedelta(minutes=5)) is None


async def test_objects_lie_under_their_very_keys_below_the_prefix(config: S3Config, s3_service: Service) -> None:
    await S3Blobs(config).put(KEY, b"x", "image/png")

    whole_bucket = S3Blobs(s3_config(s3_service))

    assert await whole_bucket.get(f"{config.prefix}/{KEY}") == b"x"


async def test_a_bucket_may_be_named_in_the_host() -> None:
    blobs = at(1, endpoint="https://s3.example.org", path_style=False)

    url = await blobs.url(KEY, timedelta(minutes=5))

    assert url is not None
    assert url.startswith(f"https://media.s3.example.org/{KEY}?")


@pytest.mark.parametrize("call", CALLS)
async def test_wrong_keys_are_one_clear_line(config: S3Config, s3_service: Service, call: str) -> None:
    blobs = S3Blobs(s3_config(s3_service, secret_key="hush"))

    with pytest.raises(BlobError, match="answered 403 SignatureDoesNotMatch") as caught:
        await do(call, blobs)

    assert not isinstance(caught.value, BlobMissing | BlobUnavailable)
    assert_one_clean_line(caught.value)


@pytest.mark.parametrize("call", ["get", "list"])
async def test_a_bucket_that_is_not_there_is_not_a_missing_object(s3_service: Service, call: str) -> None:
    blobs = S3Blobs(s3_config(s3_service, bucket="no-such-bucket"))

    with pytest.raises(BlobError, match="answered 404 NoSuchBucket") as caught:
        await do(call, blobs)

    assert not isinstance(caught.value, BlobMissing)


@pytest.mark.parametrize("call", CALLS)
async def test_a_server_that_is_down_is_said_to_be_unavailable(call: str) -> None:
    with pytest.raises(BlobUnavailable, match=r"no answer \(Connection refused\)") as caught:
        await do(call, at(free_port(), timeout=timedelta(seconds=LONGEST_WAIT)))

    assert_one_clean_line(caught.value)


@pytest.mark.parametrize("call", CALLS)
async def test_a_server_that_never_answers_is_given_up_within_twice_the_timeout(silent_port: int, call: str) -> None:
    calling = asyncio.create_task(do(call, at(silent_port, timeout=timedelta(hours=1))))
    await asyncio.sleep(0)  # It has begun, and its time runs.

    jump(2 * 3600 - LONGEST_WAIT)
    # What it waits for now is a limit that is over, or none.
    await asyncio.to_thread(lambda: None)
    is_given_up_early = calling.done()
    jump(LONGEST_WAIT)

    with pytest.raises(BlobUnavailable, match=r"no answer \(timeout\)") as caught:
        await calling
    assert not is_given_up_early
    assert_one_clean_line(caught.value)


async def test_a_server_that_never_answers_is_given_up_by_itself(silent_port: int) -> None:
    with pytest.raises(BlobUnavailable, match=r"no answer \(timeout\)"):
        await at(silent_port).get(KEY)


async def test_a_404_of_a_server_that_knows_no_s3_is_not_a_missing_object() -> None:
    async with answering("404 Not Found", []) as port:
        with pytest.raises(BlobError, match="answered 404") as caught:
            await at(port, timeout=timedelta(seconds=LONGEST_WAIT)).get(KEY)

    assert not isinstance(caught.value, BlobMissing)


async def test_a_missing_object_is_named(config: S3Config) -> None:
    with pytest.raises(BlobMissing, match=f"there is no object {config.prefix}/{KEY}"):
        await S3Blobs(config).get(KEY)


EXITS_WHILE_WAITING = """
import asyncio, sys
from datetime import timedelta
from feedmill.archive.object_store_config import S3Config
from feedmill.archive.s3 import S3Blobs

async def main():
    endpoint = f"http://127.0.0.1:{sys.argv[1]}"
    blobs = S3Blobs(S3Config("media", "", endpoint, "", "key", "hush", timeout=timedelta(seconds=1)))
    waiting = asyncio.create_task(blobs.get("a.png"))
    await asyncio.get_running_loop().run_in_executor(None, input)
    waiting.cancel()

asyncio.run(main())
"""


@pytest.mark.external
def test_a_process_that_gave_up_on_a_silent_server_exits_in_time() -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    pipe = subprocess.PIPE
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = [sys.executable, "-c", EXITS_WHILE_WAITING, str(server.getsockname()[1])]
        process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe)
        with process, server.accept()[0] as connection:
            connection.recv(1)  # It has asked, and waits for the answer.
            _, said = process.communicate(b"give up\n", timeout=LONGEST_WAIT)

    assert (process.returncode, said) == (0, b"")


@pytest.mark.parametrize("status", ["503 Slow Down", "500 Oops"])
async def test_a_server_in_trouble_is_asked_three_times(status: str) -> None:
    seen: list[bytes] = []
    async with answering(status, seen) as port:
        with pytest.raises(BlobUnavailable, match=f"answered {status[:3]}"):
            await at(port, timeout=timedelta(seconds=LONGEST_WAIT)).put(KEY, b"x", "image/png")

    assert len(seen) == 3


async def test_more_calls_than_threads_to_a_silent_server_all_end_in_time(silent_port: int) -> None:
    blobs = at(silent_port, timeout=timedelta(seconds=LONGEST_WAIT))
    calls = [asyncio.create_task(blobs.get(KEY)) for _ in range(80)]
    await asyncio.sleep(0)  # All have begun, and their time runs.

    jump(2 * LONGEST_WAIT)
    outcomes = await asyncio.gather(*calls, return_exceptions=True)

    assert {type(outcome) for outcome in outcomes} == {BlobUnavailable}


async def test_our_settings_win_over_the_environments(config: S3Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "elses")
    monkeypatch.setenv("AWS_SKIP_SIGNATURE", "true")
    monkeypatch.setenv("AWS_REGION", "mars-1")
    blobs = S3Blobs(config)

    await blobs.put(KEY, b"x", "image/png")

    assert await blobs.get(KEY) == b"x"


async def test_without_keys_those_of_the_environment_are_used(
    config: S3Config, monkeypatch: pytest.MonkeyPatch, s3_service: Service
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", config.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", config.secret_key)
    blobs = S3Blobs(s3_config(s3_service, prefix=config.prefix, access_key="", secret_key=""))

    await blobs.put(KEY, b"x", "image/png")

    assert await S3Blobs(config).get(KEY) == b"x"


async def test_objects_of_other_tools_are_not_listed(config: S3Config) -> None:
    blobs = S3Blobs(config)
    await blobs.put(KEY, b"x", "image/png")
    other_tool = obstore.store.S3Store(
        config.bucket,
        prefix=config.prefix,
        endpoint=config.endpoint,
        access_key_id=config.access_key,
        secret_access_key=config.secret_key,
        client_options={"allow_http": True},
    )
    obstore.put(other_tool, "Other Tool/README", b"")

    assert [blob.key async for blob in blobs.list_keys("")] == [KEY]
