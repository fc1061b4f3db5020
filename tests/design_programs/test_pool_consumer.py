"""A consumer of the fifth design document takes from our pools: its RPOP, its update of the status, its SQL."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from feedmill.coordination.fallback import CoordinationCircuitBreaker
from feedmill.coordination.redis_client import connect
from feedmill.coordination.redis_pool_queues import RedisPoolQueues, connect_without_retry
from feedmill.coordination.redis_slots_and_locks import RedisLocks
from feedmill.html.sanitize import sanitize_html
from feedmill.model.pool import LossPolicy, PoolCounts, PoolGroup, PoolKind, PoolOptions, PoolRule
from feedmill.pools.item_texts import ItemTexts
from feedmill.pools.pool_tools import PoolLists, PoolTools
from feedmill.pools.service import PoolService
from feedmill.store.database import Database
from feedmill.store.views import create_views, drop_views
from tests.cli.tmpfs import skip_or_fail_in_ci
from tests.databases import emptied, settings_of
from tests.pools.conftest import Clock
from tests.services.node import install_package
from tests.services.redis import own_redis
from tests.services.server import Restartable, ServiceMissing

HERE = Path(__file__).parent
PROGRAM = HERE / "pool-consumer"
# The document's tables under other names: its own are those of the views.
TABLES = {
    "own_titles": "id BIGINT PRIMARY KEY, group_id BIGINT, title TEXT, batch_id BIGINT, status SMALLINT",
    "own_contents": "id BIGINT PRIMARY KEY, group_id BIGINT, content TEXT, batch_id BIGINT, status SMALLINT",
}
SIZE = 5
HALF_AN_HOUR = timedelta(minutes=30)


@dataclass
class Consumer:
    """The program in its own process. `texts` are those that it got, in order."""

    process: asyncio.subprocess.Process
    texts: list[str] = field(default_factory=list)

    async def take(self, group: PoolGroup, kind: PoolKind = PoolKind.TITLES) -> str:
        """Takes an item and waits for its update, as one visitor after the other does; where it came from."""
        answer = await self.ask(f"{kind} {group.id}")
        await self.ask("wait")
        self.texts += [answer["text"]] if "text" in answer else []
        return str(answer.get("from") or answer["error"])

    async def ask(self, line: str) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{line}\n".encode())
        printed: dict[str, Any] = json.loads(await asyncio.wait_for(self.process.stdout.readline(), 60))
        return printed


@dataclass
class Installation:
    db: Database
    pools: PoolService
    redis: Restartable
    clock: Clock
    consumer: Consumer

    async def counts(self, kind: PoolKind = PoolKind.TITLES) -> PoolCounts:
        return (await self.pools.status("mine", kind)).counts

    async def pass_time(self) -> None:
        """Half an hour of maintenance: whatever looks lost by then is held back."""
        self.clock.now += HALF_AN_HOUR
        for _ in range(3):
            await self.pools.maintainer.run_once()


@pytest.fixture(params=["sqlite", "postgresql", "mariadb"])
async def installation(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Installation]:
    kind, clock = request.param, Clock()
    async with emptied(request, kind, tmp_path) as db:
        with own_redis() as redis:
            clients = [connect_without_retry(redis.service.url), connect(redis.service.url)]
            lists = PoolLists(
                RedisPoolQueues(clients[0]), RedisLocks(clients[1]), CoordinationCircuitBreaker(retry_after=0)
            )
            pools = PoolService(PoolTools(db, ItemTexts(sanitize_html), lists, clock))
            try:
                await create_views(db)
                for name, columns in TABLES.items():
                    await db.exec(f"CREATE TABLE {name} ({columns})")
                url = settings_of(request, kind, tmp_path)["database"]
                async with consuming(redis.service.url, url) as consumer:
                    yield Installation(db, pools, redis, clock, consumer)
            finally:
                await drop_views(db)
                for name in TABLES:
                    await db.exec(f"DROP TABLE IF EXISTS {name}")
                for client in clients:
                    await client.aclose()


def node() -> list[str]:
    """The command of node, which has the drivers of databases."""
    try:
        return install_package(PROGRAM, "ioredis").node
    except ServiceMissing as missing:
        skip_or_fail_in_ci(str(missing))


@asynccontextmanager
async def consuming(redis_url: str, database_url: str) -> AsyncIterator[Consumer]:
    if database_url.startswith("sqlite:"):
        command = [sys.executable, str(HERE / "pool_consumer.py"), redis_url, urlsplit(database_url).path[1:]]
    else:
        command = [*node(), str(PROGRAM / "pool_consumer.mjs"), redis_url, database_url]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    try:
        yield Consumer(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await asyncio.wait_for(process.wait(), 60)


@pytest.fixture
async def mine(installation: Installation) -> PoolGroup:
    """A group that takes its texts from the tables; programs take from its lists, which are small."""
    titles, contents = (PoolOptions(size=SIZE, refill_below=SIZE, source_table=name) for name in TABLES)
    return await installation.pools.create(
        "mine", PoolRule(no_entries=True), titles, contents, loss=LossPolicy(others_rpop=True)
    )


async def write_rows(installation: Installation, group: PoolGroup, numbers: range, batch_id: int) -> None:
    """What other programs write; `status` is 1."""
    for name, column in (("own_titles", "title"), ("own_contents", "content")):
        rows = ", ".join(f"({n}, {group.id}, '标题 {n}', {batch_id}, 1)" for n in numbers)
        await installation.db.exec(f"INSERT INTO {name} (id, group_id, {column}, batch_id, status) VALUES {rows}")


def titles(*numbers: int) -> list[str]:
    return [f"标题 {n}" for n in numbers]


async def test_it_gets_every_text_once_newest_batch_first_and_each_is_used(
    installation: Installation, mine: PoolGroup
) -> None:
    await write_rows(installation, mine, range(1, 4), batch_id=1)
    await write_rows(installation, mine, range(4, 6), batch_id=2)
    await installation.pools.maintainer.run_once()

    came_from = [await installation.consumer.take(mine) for _ in range(6)]
    await installation.consumer.take(mine, PoolKind.CONTENTS)
    await installation.pass_time()

    assert came_from == ["redis"] * 5 + ["no rows in result set"]
    assert installation.consumer.texts == titles(4, 5, 1, 2, 3, 4)
    assert await installation.counts() == PoolCounts(used=5)
    # What it did not take is still in the list.
    assert await installation.counts(PoolKind.CONTENTS) == PoolCounts(used=1, queued=4)


async def test_an_empty_list_is_backed_by_its_own_sql(installation: Installation, mine: PoolGroup) -> None:
    await write_rows(installation, mine, range(1, 13), batch_id=1)
    await installation.pools.maintainer.run_once()

    came_from = [await installation.consumer.take(mine) for _ in range(13)]
    await installation.pass_time()

    assert came_from == ["redis"] * SIZE + ["database"] * 7 + ["no rows in result set"]
    assert installation.consumer.texts == titles(*range(1, 13))
    assert await installation.counts() == PoolCounts(used=12)


async def test_without_redis_it_gets_what_is_in_no_list_and_nothing_twice_afterwards(
    installation: Installation, mine: PoolGroup
) -> None:
    await write_rows(installation, mine, range(1, 10), batch_id=1)
    await installation.pools.maintainer.run_once()
    first = [await installation.consumer.take(mine) for _ in range(2)]

    installation.redis.stop()
    without = [await installation.consumer.take(mine) for _ in range(5)]
    installation.redis.start()
    await installation.pass_time()

    assert (first, without) == (["redis"] * 2, ["database"] * 4 + ["no rows in result set"])
    # What was in the list is held back: the program might have had it.
    assert installation.consumer.texts == titles(1, 2, 6, 7, 8, 9)
    assert await installation.counts() == PoolCounts(used=6, held=3)

    await installation.pools.release_lost("mine", PoolKind.TITLES)
    await installation.pools.maintainer.run_once()
    items = await installation.pools.pop("mine", PoolKind.TITLES, 9)
    assert [item.text for item in items] == titles(3, 4, 5)


async def test_an_update_that_fails_hands_nothing_out_twice(installation: Installation, mine: PoolGroup) -> None:
    await write_rows(installation, mine, range(1, 4), batch_id=1)
    await installation.pools.maintainer.run_once()
    await drop_views(installation.db)

    await installation.consumer.take(mine)
    printed = await installation.consumer.ask("wait")
    await installation.pass_time()

    assert (printed["updated"], len(printed["failed"])) == (0, 1)
    assert installation.consumer.texts == titles(1)
    assert await installation.counts() == PoolCounts(queued=2, held=1)
