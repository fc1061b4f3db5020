"""When the object store fails: entries are there, images wait, nothing dangles, and it heals by itself."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from feedmill.archive.blobs import Blobs
from feedmill.archive.images.download import archive_images
from feedmill.archive.s3 import S3Blobs
from feedmill.model.refresh import Updated
from feedmill.run.image_worker import ImageWorker
from feedmill.store.archive.image_tasks import WAITING
from feedmill.store.schema import entries
from tests.archive.images import sample_images
from tests.databases import emptied, settings_of
from tests.flows.archived_images import add_feed_with_images, archive, image_tools, shown, stored, tasks
from tests.flows.conftest import open_environment
from tests.flows.refresh_environment import MINUTE, RefreshEnvironment
from tests.scripted_web import Answer
from tests.services.s3 import s3_config

BRIEF = timedelta(seconds=0.5)
Fault = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def fails(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.readuntil(b"\r\n\r\n"):
        writer.write(b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()
        return


async def hangs(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    await asyncio.Event().wait()


async def cuts(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n<half")
    writer.close()


@asynccontextmanager
async def listening(fault: Fault) -> AsyncIterator[str]:
    """A store that answers every request with the fault."""
    server = await asyncio.start_server(fault, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


@pytest.fixture
async def keeping(env: RefreshEnvironment, s3_service: Any, tmp_path: Path) -> Callable[..., Blobs]:
    """Makes the store of this test, working or spoilt; a feed with an image waits."""
    env.web.serve("/a.png", Answer(sample_images.PNG))

    def blobs(**changes: Any) -> Blobs:
        return S3Blobs(s3_config(s3_service, prefix=f"storage-{tmp_path.name}", **changes))

    env.blobs = blobs()
    return blobs


async def nothing_is_lost(env: RefreshEnvironment, keeping: Callable[..., Blobs]) -> None:
    """What must hold after every fault, and that the image is there once the store is."""
    assert len(await env.rows(entries)) == 1
    [task] = await tasks(env)
    assert (task["status"], task["attempts"], task["claim_token"]) == ("pending", 0, None)
    assert env.web.url("/a.png") in await shown(env)
    env.now += 6 * MINUTE
    env.blobs = keeping()
    assert (await archive(env)).kept == 1
    [task] = await tasks(env)
    assert await stored(env) == [task["object_key"]]


@pytest.mark.parametrize("fault", [fails, hangs, cuts])
async def test_a_store_that_fails_hangs_or_hangs_up_has_images_wait(
    env: RefreshEnvironment, keeping: Callable[..., Blobs], fault: Fault
) -> None:
    await add_feed_with_images(env, "/a.png")
    async with listening(fault) as endpoint:
        env.blobs = keeping(endpoint=endpoint, timeout=BRIEF)

        tally = await archive(env)

    assert tally.error is not None
    await nothing_is_lost(env, keeping)


async def test_wrong_credentials_have_images_wait(env: RefreshEnvironment, keeping: Callable[..., Blobs]) -> None:
    await add_feed_with_images(env, "/a.png")
    env.blobs = keeping(secret_key="wrong")

    tally = await archive(env)

    assert "403" in str(tally.error)
    await nothing_is_lost(env, keeping)


async def test_entries_are_stored_whatever_becomes_of_their_images(env: RefreshEnvironment, tmp_path: Path) -> None:
    env.web.serve("/a.png", Answer(sample_images.PNG))
    feed = await add_feed_with_images(env, "/a.png")
    (tmp_path / "objects" / "images").write_text("in the way")

    tally = await archive(env)

    assert tally.error is not None
    assert isinstance(env.announced[0][1], Updated)
    assert (await env.feed(feed)).entry_count == 1


@pytest.mark.external
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_killed_between_put_and_settle_it_is_done_again_to_the_same_object(
    request: pytest.FixtureRequest, kind: str, tmp_path: Path
) -> None:
    async with emptied(request, kind, tmp_path) as db, open_environment(db, tmp_path) as env:
        env.now = datetime.now(UTC)
        env.web.serve("/a.png", Answer(sample_images.PNG))
        await add_feed_with_images(env, "/a.png")
        settings = settings_of(request, kind, tmp_path) | {"data": str(tmp_path), "allow_private": "127.0.0.0/8"}
        environment = os.environ | {f"FEEDMILL_{name.upper()}": value for name, value in settings.items()}
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.flows.killed_archiver", cwd=request.config.rootpath, env=environment
        )
        assert await child.wait() == -signal.SIGKILL
        [task] = await tasks(env)
        assert (task["status"], await stored(env)) == ("pending", [task["object_key"]])
        assert (await archive(env)).taken == 0

        env.now += timedelta(seconds=200)
        await archive(env)

        [task] = await tasks(env)
        assert (task["status"], await stored(env)) == ("success", [task["object_key"]])


async def test_a_failing_store_is_not_hammered(env: RefreshEnvironment, keeping: Callable[..., Blobs]) -> None:
    for n in range(5):
        env.web.serve(f"/{n}.png", Answer(sample_images.PNG))
    await add_feed_with_images(env, *(f"/{n}.png" for n in range(5)))
    async with listening(fails) as endpoint:
        env.blobs = keeping(endpoint=endpoint, timeout=BRIEF)
        work = ImageWorker(image_tools(env))

        for _ in range(10):
            await work.archive_waiting()

    assert len([request for request in env.web.requests if request.path.endswith(".png")]) == 1
    env.now += MINUTE
    work.tools = image_tools(env, blobs=keeping())
    await work.archive_waiting()
    assert sorted(row["status"] for row in await tasks(env)) == ["pending"] + ["success"] * 4


async def test_a_nudge_at_the_last_moment_is_not_lost_and_starts_no_second_worker(env: RefreshEnvironment) -> None:
    env.web.serve("/a.png", Answer(sample_images.PNG))
    added: list[bool] = []

    class ImageAddedAfterQuery:
        """Something comes to wait right after it was found that nothing does."""

        def __getattr__(self, name: str) -> Any:
            return getattr(env.db, name)

        async def query(self, statement: Any, params: Any = MappingProxyType({})) -> Any:
            rows = await env.db.query(statement, params)
            if statement is WAITING and not added:
                added.append(True)
                await add_feed_with_images(env, "/a.png")
                added.append(await work.archive_waiting())
            return rows

    work = ImageWorker(image_tools(env, db=ImageAddedAfterQuery()))

    await work.archive_waiting()

    assert added == [True, False]
    assert [row["status"] for row in await tasks(env)] == ["success"]


async def test_cancelled_in_the_middle_it_gives_its_tasks_back(env: RefreshEnvironment) -> None:
    asked = asyncio.Event()

    async def never(seen: object, wire: object) -> None:
        asked.set()
        await asyncio.Event().wait()

    env.web.serve("/a.png", never)
    await add_feed_with_images(env, "/a.png")
    running = asyncio.create_task(archive_images(image_tools(env)))
    await asked.wait()

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    [task] = await tasks(env)
    assert (task["status"], task["attempts"], task["claim_token"]) == ("pending", 0, None)
