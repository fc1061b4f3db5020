"""Benchmarks pools against a bare RPOP loop and the algorithm of the design document.

    PYTHONPATH=. python bench/pools.py                # some minutes; --items for more or fewer

Four consumers in one process, in chunks of 1, 20 and 50, on its own Redis and PostgreSQL. `pop` marks each chunk before
it hands it out; `consumer` takes 500 at a time and marks them in chunks. `seed` is the algorithm of the design
document: the filler selects available items without reserving them, and consumers mark them afterwards.
"""

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import uvloop
from redis.asyncio import Redis
from report import Cell, Table, report_table
from sqlalchemy import bindparam, select

from feedmill.coordination.redis_client import connect
from feedmill.coordination.redis_pool_queues import RedisPoolQueues, connect_without_retry
from feedmill.coordination.redis_slots_and_locks import RedisLocks
from feedmill.html.sanitize import sanitize_html
from feedmill.model.pool import PoolGroup, PoolKind, PoolOptions, PoolRule
from feedmill.pools.errors import PoolEmpty
from feedmill.pools.fill import Filler
from feedmill.pools.item_texts import ItemTexts
from feedmill.pools.pool import Pool
from feedmill.pools.pool_tools import PoolLists, PoolTools
from feedmill.pools.service import PoolService
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert, one_of
from feedmill.store.drivers.postgres import PostgresDatabase
from feedmill.store.drivers.sqlite import SqliteDatabase
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.migrations import migrate
from feedmill.store.pools.gather_entries import add_stored_entries
from feedmill.store.schema import entries, pool_items
from tests.services.postgres import running_postgres
from tests.services.redis import running_redis

AT_ONCE = 4
CHUNK_SIZES = (1, 20, 50)
POP, CONSUMER, SEED = "Feedmill, pop", "Feedmill, consumer", "the seed's design"
AT = "2026-02-18T08:30:00.000Z"
NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
HTML = "<p>Some <b>words</b> on what it is about, with a <a href='/x'>link</a>.</p>" * 20

ADD_ENTRY = insert(
    entries,
    "feed_id",
    "guid",
    "sort_at",
    "refresh_token",
    "digest",
    "first_seen_at",
    "last_seen_at",
    "title",
    "content_html",
    "base_url",
)
SEED_SELECT = (
    select(pool_items.c.id, entries.c.title.label("text"))
    .join(entries, entries.c.id == pool_items.c.entry_id)
    .where(pool_items.c.group_id == bindparam("group"), pool_items.c.kind == "titles", pool_items.c.status == 1)
    .order_by(pool_items.c.batch_id.desc(), pool_items.c.id)
    .limit(bindparam("most"))
)
SEED_MARK = pool_items.update().where(one_of(pool_items.c.id, "ids")).values(status=0)

Take = Callable[[int], Awaitable[list[int]]]


async def add_items(db: Database, count: int) -> None:
    """Adds entries that match every group of the benchmark."""
    feed = await add_feed(db, "https://example.org/feed", NOW)
    row = {
        "feed_id": feed.id,
        "sort_at": AT,
        "refresh_token": "t",
        "digest": "d",
        "first_seen_at": AT,
        "last_seen_at": AT,
        "content_html": HTML,
        "base_url": feed.url,
    }
    rows = [row | {"guid": str(number), "title": f"Title number {number}, of usual length"} for number in range(count)]
    for start in range(0, count, 5000):
        await db.batch([Step(ADD_ENTRY, rows[start : start + 5000])])


async def new_group(pools: PoolService, name: str, count: int, kind: PoolKind = PoolKind.TITLES) -> PoolGroup:
    """A group with all entries, its list not filled yet."""
    options = PoolOptions(size=count, refill_below=count)
    group = await pools.create(name, PoolRule(feeds=(0,)), options, options)
    rows = await pools.tools.db.query(select(entries.c.id).order_by(entries.c.id).limit(count))
    ids = [row["id"] for row in rows]
    for start in range(0, count, 5000):
        await add_stored_entries(pools.tools.db, {(group.id, kind): ids[start : start + 5000]}, NOW)
    return group


async def timed(take: Take, size: int, rounds: int = 1_000_000) -> tuple[float, int]:
    """Items per second until there are none, or after `rounds`; and the number of duplicates."""
    handed: Counter[int] = Counter()
    left = iter(range(rounds))

    async def consume() -> None:
        while next(left, None) is not None and (ids := await take(size)):
            handed.update(ids)

    started = time.perf_counter()
    await asyncio.gather(*(consume() for _ in range(AT_ONCE)))
    elapsed = time.perf_counter() - started
    return sum(handed.values()) / elapsed, sum(handed.values()) - len(handed)


def popping(pools: PoolService, group: PoolGroup) -> Take:
    async def take(size: int) -> list[int]:
        try:
            return [item.id for item in await pools.pop(group.id, PoolKind.TITLES, size)]
        except PoolEmpty:
            return []

    return take


def bare(redis: Redis, group: PoolGroup) -> Take:
    async def take(size: int) -> list[int]:
        taken = await redis.rpop(f"titles:pool:{group.id}", size)
        return [msgspec.json.decode(one)["id"] for one in taken or ()]

    return take


async def consuming(pools: PoolService, group: PoolGroup, size: int) -> tuple[float, int]:
    async with AsyncExitStack() as stack:
        names = iter([await stack.enter_async_context(pools.consumer(group.id, wait=False)) for _ in range(AT_ONCE)])
        handed: Counter[int] = Counter()

        async def consume() -> None:
            consumer = next(names)
            while items := await consumer.take(size):
                handed.update(item.id for item in items)

        started = time.perf_counter()
        await asyncio.gather(*(consume() for _ in range(AT_ONCE)))
        await stack.aclose()
        elapsed = time.perf_counter() - started
    return sum(handed.values()) / elapsed, sum(handed.values()) - len(handed)


async def seed(pools: PoolService, redis: Redis, group: PoolGroup, size: int, count: int) -> tuple[float, int]:
    """The design document as written: select, push, pop, mark in the background."""
    db, name, marks = pools.tools.db, f"titles:pool:{group.id}", asyncio.Queue[list[int]]()

    async def fill() -> None:
        if await redis.llen(name) < 1000:
            rows = await db.query(SEED_SELECT, {"group": group.id, "most": 5000})
            if rows:
                await redis.lpush(name, *(msgspec.json.encode(dict(row)) for row in rows))

    async def keep_filling() -> None:
        while True:
            await fill()
            await asyncio.sleep(0.05)

    async def mark() -> None:
        while True:
            await db.batch([Step(SEED_MARK, {"ids": as_list(await marks.get())})])

    async def take(most: int) -> list[int]:
        for _ in range(5):
            if ids := await bare(redis, group)(most):
                marks.put_nowait(ids)
                return ids
            await asyncio.sleep(0.05)  # the filler is still working
        return []

    await fill()
    working = [asyncio.create_task(keep_filling()), asyncio.create_task(mark())]
    # It may never end: items that are handed out and not marked yet are filled in again.
    result = await timed(take, size, rounds=2 * count // size)
    for task in working:
        task.cancel()
    await asyncio.gather(*working, return_exceptions=True)
    await redis.delete(name)
    return result


async def refills(pools: PoolService, lists: PoolLists) -> None:
    rows: list[list[Cell]] = []
    for kind in PoolKind:
        group = await new_group(pools, f"refill {kind}", 5000, kind)
        started, spent = time.perf_counter(), time.process_time()
        added = await Filler(pools.tools, lists).fill(Pool(group, kind))
        rows.append([str(kind), added, time.perf_counter() - started, time.process_time() - spent])
    report_table(
        Table("An empty pool is filled up", ["pool", "items", "seconds", "CPU s"], rows, "Goal: 5,000 in under 1 s.")
    )


async def with_redis(db: Database, url: str, count: int) -> None:
    once, redis = connect_without_retry(url), connect(url)
    lists = PoolLists(RedisPoolQueues(once), RedisLocks(redis))
    pools = PoolService(PoolTools(db, ItemTexts(sanitize_html), lists))
    await add_items(db, count)
    await refills(pools, lists)
    for size in CHUNK_SIZES:
        results: dict[str, tuple[float, int]] = {}
        for name in ("bare RPOP", POP, CONSUMER, SEED):
            group = await new_group(pools, f"{name} {size}", count)
            if name == SEED:
                results[name] = await seed(pools, redis, group, size, count)
                continue
            await Filler(pools.tools, lists).fill(Pool(group, PoolKind.TITLES))
            match name:
                case "bare RPOP":
                    results[name] = await timed(bare(once, group), size)
                case "Feedmill, pop":
                    results[name] = await timed(popping(pools, group), size)
                case _:
                    results[name] = await consuming(pools, group, size)
        show(f"Redis, chunks of {size}", results)
    await once.aclose()
    await redis.aclose()


async def database_only(db: Database, name: str, count: int, *, add: bool) -> None:
    pools = PoolService(PoolTools(db, ItemTexts(sanitize_html)))
    if add:
        await add_items(db, count)
    for size in CHUNK_SIZES:
        group = await new_group(pools, f"database {size}", count)
        show(f"{name} alone, chunks of {size}", {POP: await timed(popping(pools, group), size)})


def show(title: str, results: dict[str, tuple[float, int]]) -> None:
    fastest = results.get("bare RPOP", (0.0, 0))[0]
    rows: list[list[Cell]] = [
        [name, rate, repeats, rate / fastest if fastest else "–"] for name, (rate, repeats) in results.items()
    ]
    columns = ["", "items/s", "handed out twice", "of bare RPOP"]
    about = "Goal: in chunks of 20 at least 5,000 items/s, and half of bare `RPOP`." if "chunks of 20" in title else ""
    report_table(Table(title, columns, rows, about, bars="items/s" if fastest else None))


async def main(count: int) -> None:
    with ExitStack() as services, tempfile.TemporaryDirectory() as home:
        postgres, redis = services.enter_context(running_postgres()), services.enter_context(running_redis())
        db = PostgresDatabase(postgres.url)
        await migrate(db)
        await with_redis(db, redis.url, count)
        await database_only(db, "PostgreSQL", count, add=False)
        await db.close()
        small = SqliteDatabase(Path(home) / "bench.db")
        await migrate(small)
        await database_only(small, "SQLite", count, add=True)
        await small.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=20_000, help="how many items each measurement hands out")
    uvloop.run(main(parser.parse_args().items))
