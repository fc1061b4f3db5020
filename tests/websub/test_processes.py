"""Pushes to real processes that are killed as soon as they have answered: each entry is stored, and once."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

import pytest
from sqlalchemy import select

from feedmill.library.hubs.use_pushes import MAX_ATTEMPTS
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.schema import entries, feeds, fetch_log, hub_pushes
from tests.browser.web_in_thread import web_in_thread
from tests.cli.command import Process, environment, feedmill, start_command
from tests.databases import emptied, settings_of
from tests.scripted_web import Answer, Web
from tests.services.redis import own_redis
from tests.services.server import free_port
from tests.waiting import until
from tests.websub.hub import WebSubHub, running_hub
from tests.websub.pushed_site import feed_with_hub

pytestmark = pytest.mark.external

# On a slow machine each process may die while it uses the first push, which is given up after too many.
ROUNDS = MAX_ATTEMPTS - 1
# What leases would do in some minutes.
END_PUSH_LEASES = hub_pushes.update().where(hub_pushes.c.next_attempt_at.is_not(None))
END_CLAIMS = feeds.update().where(feeds.c.claim_token.is_not(None))


@dataclass
class Installation:
    """Processes of Feedmill with these settings; the one that serves has the port."""

    folder: Path
    settings: dict[str, str]
    port: int

    @contextmanager
    def run(self, *command: str) -> Iterator[Process]:
        """The process during the block; killed at its end."""
        with open(os.devnull) as nothing, (self.folder / "log").open("a") as log:
            streams = (nothing.fileno(), log.fileno(), log.fileno())
            process = start_command(*command, cwd=self.folder, env=environment(self.settings), streams=streams)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def _settings(folder: Path, port: int, database: dict[str, str], **more: str) -> dict[str, str]:
    places = {"data": str(folder), "public_url": f"http://127.0.0.1:{port}", "secret_key": token_hex(32)}
    return database | places | {"allow_private": "127.0.0.0/8", "host_gap": "0", "port": str(port)} | more


async def test_one_process_is_killed_after_each_push(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    async with emptied(request, "sqlite", tmp_path) as db:
        database = {"database": f"sqlite:///{tmp_path / 'feedmill.db'}"}
        mill = Installation(tmp_path, _settings(tmp_path, port := free_port(), database), port)
        with web_in_thread() as web, running_hub() as hub:
            topic = _add_feed(mill, web, hub)
            for number in range(ROUNDS):
                with mill.run("serve") as server:
                    await _push_when_subscribed(db, hub, topic, number)
                    server.kill()
                await _end_leases(db)
            with mill.run("serve"):
                await until(lambda: _all_stored(db), otherwise="not every entry is stored")

            assert await _titles(db) == ["old", *(f"new {number}" for number in range(ROUNDS))]


async def test_the_scheduler_uses_what_a_killed_api_process_accepted(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    async with emptied(request, "postgresql", tmp_path) as db:
        database = settings_of(request, "postgresql", tmp_path)
        with own_redis() as redis, web_in_thread() as web, running_hub() as hub:
            more = {"redis": redis.service.url, "objects": str(tmp_path / "objects")}
            mill = Installation(tmp_path, _settings(tmp_path, port := free_port(), database, **more), port)
            topic = _add_feed(mill, web, hub)
            with mill.run("scheduler"):
                for number in range(ROUNDS):
                    with mill.run("api") as server:
                        await _push_when_subscribed(db, hub, topic, number)
                        server.kill()
                    await _end_leases(db)
                await until(lambda: _all_stored(db), otherwise="not every entry is stored")

            assert await _titles(db) == ["old", *(f"new {number}" for number in range(ROUNDS))]
            lines = await db.query(select(fetch_log.c.outcome).where(fetch_log.c.outcome == "pushed"))
            assert len(lines) == ROUNDS


def _add_feed(mill: Installation, web: Web, hub: WebSubHub) -> str:
    topic = web.url("/feed")
    web.serve("/feed", Answer(feed_with_hub(hub.url, topic, "old")))
    added = feedmill("add", topic, cwd=mill.folder, settings=mill.settings)
    assert added.returncode == 0, added.stderr
    return topic


async def _push_when_subscribed(db: Database, hub: WebSubHub, topic: str, number: int) -> None:
    """The hub pushes one more entry, as soon as it knows us and the server answers."""
    await until(lambda: topic in {known for known, _ in hub.subscribers}, otherwise="the hub was not asked")
    body = feed_with_hub(hub.url, topic, f"new {number}")
    await until(lambda: _is_accepted(hub, topic, body), otherwise="the push was not accepted")


def _is_accepted(hub: WebSubHub, topic: str, body: bytes) -> bool:
    try:
        return [reply.status for reply in hub.publish(topic, body)] == [202]
    except OSError:
        return False


async def _end_leases(db: Database) -> None:
    at = to_iso(datetime.now(UTC))
    ended = END_PUSH_LEASES.values(next_attempt_at=at, claim_token=None)
    await db.batch([Step(ended), Step(END_CLAIMS.values(claimed_until=at))])


async def _all_stored(db: Database) -> bool:
    return len(await _titles(db)) > ROUNDS


async def _titles(db: Database) -> list[str]:
    return sorted(
        (row["title"] for row in await db.query(select(entries.c.title))), key=lambda title: (title != "old", title)
    )
