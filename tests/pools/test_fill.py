"""The filler: when it fills and how much, one at a time per pool, and what a crash at any point leaves."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from redis.asyncio import Redis

from feedmill.coordination.pool_queues import FillLock, QueuedItem, fill_lock_name
from feedmill.errors import CoordinationUnavailable, DatabaseUnavailable
from feedmill.model.pool import PoolCounts, PoolKind, PoolOptions, PoolRule
from feedmill.pools import fill
from feedmill.pools.fill import Filler
from feedmill.pools.pool import Pool
from feedmill.pools.pool_tools import PoolLists
from feedmill.pools.service import PoolService
from feedmill.store.database import Database
from feedmill.store.pools.items import claim_items
from tests.pools.pool_rows import LEASE, add_pool, items_of

TITLES = PoolKind.TITLES
SMALL = PoolOptions(size=10, refill_below=4)


@pytest.fixture
def filler(pools: PoolService, lists: PoolLists) -> Filler:
    return Filler(pools.tools, lists, chunk_size=4)


class BrokenQueues:
    """The lists, with a push that fails in one way."""

    def __init__(self, lists: PoolLists, after: bool) -> None:
        self._queues = lists.queues
        self._after = after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queues, name)

    async def push(self, filling: FillLock, items: Sequence[QueuedItem]) -> bool:
        if self._after:
            await self._queues.push(filling, items)
        raise CoordinationUnavailable("no answer")


async def test_a_list_is_filled_up_to_its_size_when_it_is_low(filler: Filler, db: Database, redis: Redis) -> None:
    pool = Pool(await add_pool(db, [f"e{number:02}" for number in range(30)], SMALL), TITLES)

    assert await filler.fill(pool) == 10
    assert await filler.fill(pool) == 0
    await redis.rpop(pool.list_name, 6)
    assert await filler.fill(pool) == 0
    await redis.rpop(pool.list_name, 1)
    assert await filler.fill(pool) == 7

    rows = [msgspec.json.decode(row) for row in await redis.rpop(pool.list_name, 99)]  # type: ignore[misc,union-attr]
    assert [row["text"] for row in rows] == [f"e{number:02}" for number in range(7, 17)]


async def test_many_fillers_at_once_queue_nothing_twice(
    pools: PoolService, lists: PoolLists, db: Database, redis: Redis
) -> None:
    options = PoolOptions(size=50, refill_below=50)
    pool = Pool(await add_pool(db, [f"e{number}" for number in range(60)], options), TITLES)

    added = await asyncio.gather(*(Filler(pools.tools, lists, chunk_size=5).fill(pool) for _ in range(6)))

    ids = [msgspec.json.decode(row)["id"] for row in await redis.lrange(pool.list_name, 0, -1)]  # type: ignore[misc]
    assert len(ids) == len(set(ids)) == sum(added) == 50
    assert await redis.get(fill_lock_name(pool.list_name)) is None


async def test_another_fillers_lock_is_left_alone(filler: Filler, db: Database, redis: Redis) -> None:
    pool = Pool(await add_pool(db, ["a"], SMALL), TITLES)
    await redis.set(fill_lock_name(pool.list_name), "somebody else")

    assert await filler.fill(pool) == 0

    assert await redis.get(fill_lock_name(pool.list_name)) == "somebody else"


async def test_a_filler_that_was_too_slow_pushes_nothing_and_queues_nothing(
    filler: Filler, pools: PoolService, db: Database, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = Pool(await add_pool(db, ["a", "b"], SMALL), TITLES)

    async def claim_slowly(*args: Any) -> Any:
        rows = await claim_items(*args)
        await redis.set(fill_lock_name(pool.list_name), "the next one")
        return rows

    monkeypatch.setattr(fill, "claim_items", claim_slowly)

    assert await filler.fill(pool) == 0
    assert await redis.llen(pool.list_name) == 0  # type: ignore[misc]
    assert (await pools.status("news", TITLES)).counts == PoolCounts(available=2)
    assert await redis.get(fill_lock_name(pool.list_name)) == "the next one"


@pytest.mark.parametrize("after", [False, True])
async def test_the_result_of_an_unanswered_push_is_never_guessed(
    pools: PoolService, lists: PoolLists, db: Database, after: bool
) -> None:
    pool = Pool(await add_pool(db, ["a", "b"], SMALL), TITLES)
    broken = replace(lists, queues=BrokenQueues(lists, after))

    with pytest.raises(CoordinationUnavailable):
        await Filler(pools.tools, broken).fill(pool)
    await pools.maintainer.run_once()

    assert (await pools.status("news", TITLES)).counts == PoolCounts(queued=2)
    assert (await pools.status("news", TITLES)).in_list == (2 if after else 0)


async def test_a_reservation_with_an_unknown_outcome_is_undone_later(
    filler: Filler, pools: PoolService, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = Pool(await add_pool(db, ["a", "b"], SMALL), TITLES)

    async def claim_and_lose_the_answer(*args: Any) -> Any:
        await claim_items(*args)
        raise DatabaseUnavailable("the connection was cut")

    with monkeypatch.context() as patch:
        patch.setattr(fill, "claim_items", claim_and_lose_the_answer)
        with pytest.raises(DatabaseUnavailable):
            await filler.fill(pool)
    assert (await pools.status("news", TITLES)).counts == PoolCounts(queued=2)

    assert await filler.fill(pool) == 2


async def test_the_size_of_one_push_is_limited(
    filler: Filler, db: Database, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = Pool(await add_pool(db, ["x" * 60, "y" * 60, "z" * 200], SMALL), TITLES)
    monkeypatch.setattr(fill, "MAX_PUSH_BYTES", 100)

    assert await filler.fill(pool) == 3

    assert [msgspec.json.decode(row)["text"][0] for row in await redis.rpop(pool.list_name, 9)] == ["x", "y", "z"]  # type: ignore[misc,union-attr]


async def test_used_items_that_programs_report_are_settled(pools: PoolService, db: Database, redis: Redis) -> None:
    group = await add_pool(db, ["a", "b", "c"])
    await pools.maintainer.run_once()
    [taken] = await redis.rpop(f"titles:pool:{group.id}", 1)  # type: ignore[misc,union-attr]

    await redis.lpush(f"titles:pool:{group.id}:used", msgspec.json.decode(taken)["id"])  # type: ignore[misc]
    await pools.maintainer.run_once()

    assert (await pools.status("news", TITLES)).counts == PoolCounts(queued=2, used=1)
    assert str((await items_of(db))[0]["taken_by"]).startswith("reported/")
    assert not await redis.exists(f"titles:pool:{group.id}:used")


async def test_reported_uses_are_settled_by_one_process_at_a_time(
    pools: PoolService, db: Database, redis: Redis
) -> None:
    group = await add_pool(db, ["a", "b"])
    await pools.maintainer.run_once()
    await redis.rpop(f"titles:pool:{group.id}")  # type: ignore[misc]
    await redis.lpush(f"titles:pool:{group.id}:used", (await items_of(db))[0]["id"])  # type: ignore[misc]
    await redis.set(f"titles:pool:{group.id}:filling", "somebody else")

    await pools.maintainer.run_once()
    meanwhile = await redis.llen(f"titles:pool:{group.id}:used")  # type: ignore[misc]
    await redis.delete(f"titles:pool:{group.id}:filling")
    await pools.maintainer.run_once()

    assert meanwhile == 1
    assert (await pools.status("news", TITLES)).counts == PoolCounts(queued=1, used=1)


async def test_a_group_added_at_run_time_is_filled_and_one_failing_pool_does_not_stop_the_others(
    pools: PoolService, db: Database, redis: Redis
) -> None:
    first = await add_pool(db, ["a"])
    await pools.maintainer.run_once()
    await redis.delete(f"titles:pool:{first.id}")
    await redis.set(f"titles:pool:{first.id}", "no list")
    pools.tools.clock.now += timedelta(minutes=2)  # type: ignore[attr-defined]

    second = await pools.create("more", PoolRule())
    await pools.maintainer.run_once()

    assert await redis.llen(f"titles:pool:{second.id}") == 1  # type: ignore[misc]


async def test_a_pool_that_is_changed_to_leases_gets_its_queued_items_back(
    pools: PoolService, db: Database, redis: Redis
) -> None:
    group = await add_pool(db, ["a", "b"])
    await pools.maintainer.run_once()

    await pools.change("news", titles=LEASE)
    await pools.maintainer.run_once()

    assert not await redis.exists(f"titles:pool:{group.id}")
    assert [item.text for item in (await pools.lease("news", TITLES, 9)).items] == ["a", "b"]


async def test_a_deleted_group_leaves_nothing(pools: PoolService, db: Database, redis: Redis) -> None:
    await add_pool(db, ["a", "b"])
    await pools.maintainer.run_once()

    await pools.delete("news")
    await pools.maintainer.run_once()

    assert await redis.keys() == []
    assert await items_of(db) == []
