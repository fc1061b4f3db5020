"""The example programs work against a real server."""

import asyncio
from pathlib import Path

from redis.asyncio import Redis

from feedmill.model.pool import PoolCounts, PoolKind, PoolOptions
from feedmill.pools.service import PoolService
from feedmill.store.database import Database
from tests.pools.pool_rows import add_pool, items_of
from tests.services.node import get_node
from tests.services.server import Service

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ["第一条标题 🎉", "x" * 70_000, "quotes \"'\\ and <b>", "y" * 200_000]


async def test_a_program_in_another_language_takes_and_settles_everything(
    pools: PoolService, db: Database, redis: Redis, redis_service: Service
) -> None:
    group = await add_pool(db, NAMES, PoolOptions(most_in_list=100_000))
    await pools.maintainer.run_once()

    program = await asyncio.create_subprocess_exec(
        *get_node().node,
        EXAMPLES / "pool_consumer.mjs",
        redis_service.url,
        f"titles:pool:{group.id}",
        stdout=asyncio.subprocess.PIPE,
    )
    told, _ = await asyncio.wait_for(program.communicate(), 60)
    await pools.maintainer.run_once()

    ids = [item["id"] for item in await items_of(db)]
    texts = [*NAMES[:2], "quotes \"'\\ and", f"a long text: GET /api/pools/items/{ids[3]}"]
    assert told.decode().splitlines() == [f"{id} {text}" for id, text in zip(ids, texts, strict=True)]
    assert (await pools.status("news", PoolKind.TITLES)).counts == PoolCounts(used=4)
