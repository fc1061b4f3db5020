"""A web app of the third design document subscribes somebody: its calls, in its order, with the fields it sends."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from tests.cli.command import environment, feedmill, serving, start_command
from tests.databases import emptied, settings_of
from tests.scripted_web import ClientConnection, ReceivedRequest, Web
from tests.serve.rest.sample_feeds import feed_of
from tests.services.node import get_node
from tests.services.redis import own_redis

HERE = Path(__file__).parent
PASSWORD = "correct horse battery"


@dataclass
class Installation:
    folder: Path
    settings: dict[str, str]
    command: str
    web: Web


@pytest.fixture(params=["sqlite", "postgresql"])
async def installation(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Installation]:
    """One process with SQLite; an API, a worker and Redis with PostgreSQL."""
    kind = request.param
    async with Web() as web, emptied(request, kind, tmp_path):
        settings = settings_of(request, kind, tmp_path) | {
            "data": str(tmp_path),
            "objects": str(tmp_path / "objects"),
            "allow_private": "127.0.0.0/8",
            "host_gap": "0",
            "secret_key": token_hex(32),
        }
        if kind == "sqlite":
            yield Installation(tmp_path, settings, "serve", web)
            return
        with own_redis() as redis, working(tmp_path, settings | {"redis": redis.service.url}):
            yield Installation(tmp_path, settings | {"redis": redis.service.url}, "api", web)


@contextmanager
def working(folder: Path, settings: dict[str, str]) -> Iterator[None]:
    """A worker process."""
    with open(os.devnull) as nothing, (folder / "worker.log").open("a") as log:
        streams = (nothing.fileno(), log.fileno(), log.fileno())
        process = start_command("worker", cwd=folder, env=environment(settings), streams=streams)
    try:
        yield
    finally:
        process.kill()
        process.wait()


async def subscribe(
    installation: Installation, feed_url: str, may_answer: asyncio.Event, **more: str
) -> list[tuple[str, dict[str, Any]]]:
    """Runs the web app; what its calls returned, in their order. The site may answer once the feed is saved."""
    settings = installation.settings | more
    added = feedmill(
        "user", "add", "alice", cwd=installation.folder, settings=settings, typed=f"{PASSWORD}\n{PASSWORD}\n"
    )
    assert added.returncode == 0, added.stderr
    with serving(cwd=installation.folder, settings=settings, command=installation.command) as server:
        program = await asyncio.create_subprocess_exec(
            *get_node().node,
            HERE / "subscribe_in_browser.mjs",
            *(server.address, "alice", PASSWORD, feed_url),
            stdout=asyncio.subprocess.PIPE,
            limit=1_000_000,
        )
        assert program.stdout is not None
        lines = []
        async for line in program.stdout:
            may_answer.set()
            lines.append(json.loads(line))
        assert await program.wait() == 0
    return [(line.pop("call"), line) for line in lines]


async def test_a_new_subscription_has_its_articles_at_once(installation: Installation) -> None:
    url = installation.web.serve("/rss.xml", feed_of("First", "Second", title="Example Blog"))

    calls = await subscribe(installation, url, asyncio.Event(), subscribe_seconds="60")

    told = dict(calls[:6])
    saved, scheduled = told["saveFeeds"], told["scheduleFeedRefresh"]["body"]
    assert [call for call, _ in calls[:1]] == ["saveFeeds"]
    assert (saved["status"], saved["body"]["feed"]["title"]) == (201, "Example Blog")
    assert (saved["body"]["feed"]["url"], saved["body"]["feed"]["interval_seconds"]) == (url, 1800)
    assert told["addFeed"] == {"success": True}
    assert (scheduled["task_id"], scheduled["status"]) == (None, "queued")
    assert 600 < scheduled["delay_seconds"] <= 1980
    assert sorted(told["addArticles"]["titles"]) == ["First", "Second"]
    assert (told["forced"]["body"]["status"], told["forced"]["body"]["delay_seconds"]) == ("queued", 0)
    *_, end = told["watchForced"]["events"]
    assert (end["event"], end["data"]["done"], end["data"]["failed"]) == ("done", 1, 0)
    # The subscription and the button: the address that is known already is not asked again.
    assert len(installation.web.seen("/rss.xml")) == 2


async def test_the_same_address_again_is_a_duplicate_in_the_app_and_on_the_server(installation: Installation) -> None:
    url = installation.web.serve("/rss.xml", feed_of("First", title="Example Blog"))

    calls = await subscribe(installation, url, asyncio.Event(), subscribe_seconds="60")

    results = [result for call, result in calls if call == "addFeed"]
    reasons = [None, "duplicate", "already_subscribed"]
    assert [(result["success"], result.get("reason")) for result in results] == [
        (reason is None, reason) for reason in reasons
    ]


async def test_a_slow_site_is_followed_live_until_its_articles_are_there(installation: Installation) -> None:
    may_answer = asyncio.Event()

    async def answer_late(seen: ReceivedRequest, connection: ClientConnection) -> None:
        await may_answer.wait()
        await connection.send(feed_of("First", "Second", title="Example Blog").encode())

    url = installation.web.serve("/rss.xml", answer_late)

    calls = await subscribe(installation, url, may_answer, subscribe_seconds="0.05")

    told = dict(calls[:7])
    assert (told["saveFeeds"]["status"], told["saveFeeds"]["body"]["status"]) == (202, "queued")
    assert told["scheduleFeedRefresh"]["body"]["status"] in ("queued", "already_running")
    events = told["watchJob"]["events"]
    assert (events[-1]["event"], events[-1]["data"]["new"]) == ("done", 2)
    assert sorted(told["addArticles"]["titles"]) == ["First", "Second"]
