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
from tests.flows.conftest import small_world
from tests.flows.pictures import archive, showing, shown, stored, tasks, tools_of
from tests.flows.world import MINUTE, World
from tests.services.s3 import s3_config
from tests.www import Answer

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
async def keeping(world: World, s3_service: Any, tmp_path: Path) -> Callable[..., Blobs]:
    """Makes the store of this test, working or spoilt; a feed with an image waits."""
    world.web.serve("/a.png", Answer(sample_images.PNG))

    def blobs(**changes: Any) -> Blobs:
        return S3Blobs(s3_config(s3_service, prefix=f"storage-{tmp_path.name}", **changes))

    world.blobs = blobs()
    return blobs


async def nothing_is_lost(world: World, keeping: Callable[..., Blobs]) -> None:
    """What must hold after every fault, and that the image is there once the store is."""
    assert len(await world.rows(entries)) == 1
    [task] = await tasks(world)
    assert (task["status"], task["attempts"], task["claim_token"]) == ("pending", 0, None)
    assert world.web.url("/a.png") in await shown(world)
    world.now += 6 * MINUTE
    world.blobs = keeping()
    assert (await archive(world)).kept == 1
    [task] = await tasks(world)
    assert await stored(world) == [task["object_key"]]


@pytest.mark.parametrize("fault", [fails, hangs, cuts])
async def test_a_store_that_fails_hangs_or_hangs_up_has_images_wait(
    world: World, keeping: Callable[..., Blobs], fault: Fault
) -> None:
    await showing(world, "/a.png")
    async with listening(fault) as endpoint:
        world.blobs = keeping(endpoint=endpoint, timeout=BRIEF)

        tally = await archive(world)

    assert tally.error is not None
    await nothing_is_lost(world, keeping)


async def test_wrong_credentials_have_images_wait(world: World, keeping: Callable[..., Blobs]) -> None:
    await showing(world, "/a.png")
    world.blobs = keeping(secret_key="wrong")

    tally = await archive(world)

    assert "403" in str(tally.error)
    await nothing_is_lost(world, keeping)


async def test_entries_are_stored_whatever_becomes_of_their_images(world: World, tmp_path: Path) -> None:
    world.web.serve("/a.png", Answer(sample_images.PNG))
    feed = await showing(world, "/a.png")
    (tmp_path / "objects" / "images").write_text("in the way")

    tally = await archive(world)

    assert tally.error is not None
    assert isinstance(world.said[0][1], Updated)
    assert (await world.feed(feed)).entry_count == 1


@pytest.mark.external
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_killed_between_put_and_settle_it_is_done_again_to_the_same_object(
    request: pytest.FixtureRequest, kind: str, tmp_path: Path
) -> None:
    async with emptied(request, kind, tmp_path) as db, small_world(db, tmp_path) as world:
        world.now = datetime.now(UTC)
        world.web.serve("/a.png", Answer(sample_images.PNG))
        await showing(world, "/a.png")
        settings = settings_of(request, kind, tmp_path) | {"data": str(tmp_path), "allow_private": "127.0.0.0/8"}
        environment = os.environ | {f"FEEDMILL_{name.upper()}": value for name, value in settings.items()}
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.flows.dying_archiver", cwd=request.config.rootpath, env=environment
        )
        assert await child.wait() == -signal.SIGKILL
        [task] = await tasks(world)
        assert (task["status"], await stored(world)) == ("pending", [task["object_key"]])
        assert (await archive(world)).taken == 0

        world.now += timedelta(seconds=200)
        await archive(world)

        [task] = await tasks(world)
        assert (task["status"], await stored(world)) == ("success", [task["object_key"]])


async def test_a_failing_store_is_not_hammered(world: World, keeping: Callable[..., Blobs]) -> None:
    for n in range(5):
        world.web.serve(f"/{n}.png", Answer(sample_images.PNG))
    await showing(world, *(f"/{n}.png" for n in range(5)))
    async with listening(fails) as endpoint:
        world.blobs = keeping(endpoint=endpoint, timeout=BRIEF)
        work = ImageWorker(tools_of(world))

        for _ in range(10):
            await work.archive_waiting()

    assert len([request for request in world.web.requests if request.path.endswith(".png")]) == 1
    world.now += MINUTE
    work.tools = tools_of(world, blobs=keeping())
    await work.archive_waiting()
    assert sorted(row["status"] for row in await tasks(world)) == ["pending"] + ["success"] * 4


async def test_a_nudge_at_the_last_moment_is_not_lost_and_starts_no_second_worker(world: World) -> None:
    world.web.serve("/a.png", Answer(sample_images.PNG))
    nudged: list[bool] = []

    class Late:
        """Something comes to wait right after it was found that nothing does."""

        def __getattr__(self, name: str) -> Any:
            return getattr(world.db, name)

        async def query(self, statement: Any, params: Any = MappingProxyType({})) -> Any:
            rows = await world.db.query(statement, params)
            if statement is WAITING and not nudged:
                nudged.append(True)
                await showing(world, "/a.png")
                nudged.append(await work.archive_waiting())
            return rows

    work = ImageWorker(tools_of(world, db=Late()))

    await work.archive_waiting()

    assert nudged == [True, False]
    assert [row["status"] for row in await tasks(world)] == ["success"]


async def test_cancelled_in_the_middle_it_gives_its_tasks_back(world: World) -> None:
    asked = asyncio.Event()

    async def never(seen: object, wire: object) -> None:
        asked.set()
        await asyncio.Event().wait()

    world.web.serve("/a.png", never)
    await showing(world, "/a.png")
    running = asyncio.create_task(archive_images(tools_of(world)))
    await asked.wait()

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    [task] = await tasks(world)
    assert (task["status"], task["attempts"], task["claim_token"]) == ("pending", 0, None)
