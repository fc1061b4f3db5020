"""Programs that use SQL, programs that RPOP and our own calls take from one pool: each item goes to one of them."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from redis.asyncio import Redis
from sqlalchemy import text

from feedmill.html.sanitize import sanitize_html
from feedmill.model.pool import LossPolicy, PoolCounts, PoolGroup, PoolKey, PoolKind, PoolOptions, PoolRule, PoolText
from feedmill.pools.errors import PoolEmpty
from feedmill.pools.item_texts import ItemTexts
from feedmill.pools.pool_tools import PoolLists, PoolTools
from feedmill.pools.service import PoolService
from feedmill.store.database import Database, Step
from feedmill.store.pools.texts import add_texts
from feedmill.store.views import create_views, drop_views
from tests.pools.conftest import Clock
from tests.pools.pool_rows import NOW

ITEMS = 300
NEXT = text("SELECT id FROM titles WHERE group_id = :group AND status = 1 ORDER BY batch_id DESC, id ASC LIMIT 1")
CLAIM = "UPDATE titles SET status = 0 WHERE id = :id AND status = 1"
USED = text("UPDATE titles SET status = 0 WHERE id = :id")

Take = Callable[[], Awaitable[list[int]]]


@pytest.fixture
async def views(any_db: Database) -> AsyncIterator[Database]:
    await create_views(any_db)
    yield any_db
    await drop_views(any_db)


@pytest.mark.parametrize("any_db", ["sqlite", "postgresql", "mariadb"], indirect=True)
async def test_an_item_goes_to_one_program_whichever_way_it_takes(
    views: Database, lists: PoolLists, redis: Redis, clock: Clock, tmp_path: Path
) -> None:
    pools = PoolService(PoolTools(views, ItemTexts(sanitize_html), lists, clock))
    options = PoolOptions(size=20, refill_below=20)
    group = await pools.create("mine", PoolRule(no_entries=True), options, loss=LossPolicy(others_rpop=True))
    texts = [PoolText(str(n), f"text {n}", 1) for n in range(ITEMS)]
    await add_texts(views, PoolKey(group.id, PoolKind.TITLES), texts, "writer/1", NOW)

    async def rpop() -> list[int]:
        if (data := await redis.rpop(f"titles:pool:{group.id}")) is None:
            return []
        id = int(json.loads(data)["id"])
        await views.batch([Step(USED, {"id": id})])
        return [id]

    async def select_and_claim() -> list[int]:
        rows = await views.query(NEXT, {"group": group.id})
        return [row["id"] for row in rows if await claim(views, row["id"], tmp_path)]

    async def pop() -> list[int]:
        with suppress(PoolEmpty):
            return [item.id for item in await pools.pop("mine", PoolKind.TITLES, 2)]
        return []

    filling = asyncio.create_task(keep_filling(pools, group))
    programs = [rpop, rpop, select_and_claim, select_and_claim, pop]
    taken = await asyncio.gather(*(take_all(views, group, each) for each in programs))
    filling.cancel()

    ids = [id for each in taken for id in each]
    assert (len(ids), len(set(ids))) == (ITEMS, ITEMS)
    assert (await pools.status("mine", PoolKind.TITLES)).counts == PoolCounts(used=ITEMS)


async def keep_filling(pools: PoolService, group: PoolGroup) -> None:
    while True:
        await pools.fill(group.id)


async def take_all(db: Database, group: PoolGroup, take: Take) -> list[int]:
    """Takes until every item of the pool is used."""
    taken: list[int] = []
    left = text("SELECT COUNT(*) AS items FROM titles WHERE group_id = :group AND status <> 0")
    while (await db.query(left, {"group": group.id}))[0]["items"]:
        taken += await take()
    return taken


async def claim(db: Database, id: int, folder: Path) -> bool:
    """Whether the item is ours; SQLite tells it by a row, the others by the number of rows changed."""
    if db.dialect_name != "sqlite":
        return await db.batch([Step(text(CLAIM), {"id": id})]) == [1]
    return await asyncio.to_thread(_claim_on_sqlite, folder, id)


def _claim_on_sqlite(folder: Path, id: int) -> bool:
    with closing(sqlite3.connect(folder / "feedmill.db", isolation_level=None, timeout=60)) as program:
        return bool(program.execute(f"{CLAIM} RETURNING 1", {"id": id}).fetchall())
