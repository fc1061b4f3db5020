"""The consumer in Python: every item once, every use recorded, and unused items returned."""

import asyncio
from typing import Any

import pytest

from feedmill.errors import DatabaseUnavailable
from feedmill.model.pool import Guarantee, PoolCounts, PoolItem, PoolKey, PoolKind, PoolOptions
from feedmill.pools import consumer, lease_consumer, used_item_buffer
from feedmill.pools.consumer import PREFETCH_LEASE, PoolConsumer
from feedmill.pools.errors import ItemsNotMarkedUsed
from feedmill.pools.held_item import HeldItem
from feedmill.pools.pool import Pool
from feedmill.pools.pop import take_available
from feedmill.pools.service import PoolService
from feedmill.pools.used_item_buffer import UsedItemBuffer
from feedmill.store.database import Database
from feedmill.store.pools.gather_entries import add_stored_entries
from feedmill.store.pools.items import extend_items
from tests.pools.conftest import Clock
from tests.pools.pool_rows import LEASE, NOW, SECOND, add_entries, add_pool, items_of
from tests.virtual_time import jump
from tests.waiting import LONGEST_WAIT, until

TITLES = PoolKind.TITLES
NAMES = [f"e{number:02}" for number in range(30)]


async def away(*args: object) -> int:
    raise DatabaseUnavailable("away")


async def counts(pools: PoolService) -> PoolCounts:
    return (await pools.status("news", TITLES)).counts


@pytest.mark.parametrize("options", [PoolOptions(), LEASE], ids=["at_most_once", "lease"])
async def test_all_items_come_in_order_and_are_settled_at_the_end(
    any_pools: PoolService, db: Database, options: PoolOptions
) -> None:
    await add_pool(db, NAMES, options)
    await any_pools.maintainer.run_once()

    async with any_pools.consumer("news", wait=False) as items:
        texts = [item.text async for item in items]

    assert texts == NAMES
    assert await counts(any_pools) == PoolCounts(used=30)


@pytest.mark.parametrize("options", [PoolOptions(), LEASE], ids=["at_most_once", "lease"])
async def test_items_that_were_not_handed_out_return_to_the_head(
    any_pools: PoolService, db: Database, options: PoolOptions
) -> None:
    await add_pool(db, NAMES, options)
    await any_pools.maintainer.run_once()

    async with any_pools.consumer("news") as items:
        taken = await items.take(3)

    assert [item.text for item in taken] == NAMES[:3]
    assert (await counts(any_pools)).used == 3
    async with any_pools.consumer("news", wait=False) as items:
        assert [item.text async for item in items] == NAMES[3:]
    assert {item["attempts"] for item in await items_of(db)} <= {1, 2}


async def test_two_consumers_share_a_pool(any_pools: PoolService, db: Database) -> None:
    await add_pool(db, NAMES)
    await any_pools.maintainer.run_once()

    async def consume(who: str) -> list[str]:
        async with any_pools.consumer("news", who=who, wait=False) as items:
            return [item.text for _ in range(15) for item in await items.take(1)]

    first, second = await asyncio.gather(consume("alice"), consume("bob"))

    assert not set(first) & set(second)


async def test_an_item_whose_processing_failed_comes_back(any_pools: PoolService, db: Database) -> None:
    await add_pool(db, NAMES[:3], LEASE)

    async def fail_at_the_second() -> None:
        async with any_pools.consumer("news") as items:
            await anext(items)
            await anext(items)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail_at_the_second()

    assert await counts(any_pools) == PoolCounts(available=2, used=1)
    assert [item.text for item in (await any_pools.lease("news", TITLES)).items] == [NAMES[1]]
    assert [item["attempts"] for item in await items_of(db)] == [1, 2, 0]


async def test_leases_are_extended_while_items_are_processed(
    any_pools: PoolService, db: Database, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    extended = 0

    async def count(*args: Any) -> int:
        nonlocal extended
        changed = await extend_items(*args)
        extended += 1
        return changed

    monkeypatch.setattr(lease_consumer, "extend_items", count)
    await add_pool(db, NAMES[:2], PoolOptions(guarantee=Guarantee.LEASE, lease_seconds=600))

    async with any_pools.consumer("news") as items:
        await anext(items)
        for number in range(1, 5):
            clock.now += 300 * SECOND
            jump(300)
            await until(lambda number=number: extended == number, otherwise="the leases were not extended")
            await any_pools.maintainer.run_once()

    assert await counts(any_pools) == PoolCounts(available=1, used=1)


async def test_a_waiting_consumer_gets_new_items(
    any_pools: PoolService, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = await add_pool(db, ["a"])
    looks = 0

    async def count(*args: Any) -> list[PoolItem]:
        nonlocal looks
        found = await take_available(*args)
        looks += not found
        return found

    monkeypatch.setattr(consumer, "take_available", count)
    monkeypatch.setattr(consumer, "EMPTY_WAIT", 0.01)

    async with any_pools.consumer("news") as items, asyncio.timeout(LONGEST_WAIT):
        assert (await anext(items)).text == "a"
        waiting = asyncio.ensure_future(anext(items))
        await until(lambda: looks > 1, otherwise="the consumer did not look again")
        await add_stored_entries(db, {(group.id, TITLES): await add_entries(db, ["b"])}, NOW)
        assert (await waiting).text == "b"


async def test_a_slow_consumer_reserves_few_items(any_pools: PoolService, db: Database) -> None:
    await add_pool(db, NAMES)
    await any_pools.maintainer.run_once()

    async with any_pools.consumer("news") as items:
        for _ in range(3):
            await items.take(1)
            jump(0.3)

        in_hand = 30 - len(await any_pools.pop("news", TITLES, 30))

    assert 3 <= in_hand <= 5


async def test_items_of_a_killed_consumer_are_held_back_and_listed(
    any_pools: PoolService, db: Database, clock: Clock
) -> None:
    await add_pool(db, NAMES)
    await any_pools.maintainer.run_once()
    killed = PoolConsumer(any_pools.tools, Pool(await any_pools.group("news"), TITLES))
    handed = await killed.take(3)
    clock.now += PREFETCH_LEASE

    lost = await any_pools.lost("news", TITLES)

    assert [item.id for item in lost] == [item.id for item in handed]
    assert (await counts(any_pools)).held == 3


async def test_marks_that_the_database_could_not_store_are_stored_later(
    any_pools: PoolService, db: Database, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_pool(db, NAMES[:3])
    await any_pools.maintainer.run_once()

    async with any_pools.consumer("news") as items:
        with monkeypatch.context() as patch:
            patch.setattr(used_item_buffer, "mark_prefetched_used", away)
            await items.take(3)
            clock.now += PREFETCH_LEASE
            await any_pools.maintainer.run_once()
        assert (await counts(any_pools)).held == 3

    assert await counts(any_pools) == PoolCounts(used=3)


async def test_items_that_cannot_be_leased_go_back_to_the_list(
    pools: PoolService, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_pool(db, NAMES[:3])
    await pools.maintainer.run_once()

    async with pools.consumer("news") as items:
        with monkeypatch.context() as patch:
            patch.setattr(consumer, "take_queued_items", away)
            with pytest.raises(DatabaseUnavailable):
                await items.take(3)
        assert (await pools.status("news", TITLES)).in_list == 3
        assert [item.text for item in await items.take(3)] == NAMES[:3]


async def test_a_consumer_that_runs_keeps_what_it_has_fetched(
    any_pools: PoolService, db: Database, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    extended = 0

    async def count(*args: Any) -> int:
        nonlocal extended
        changed = await extend_items(*args)
        extended += 1
        return changed

    monkeypatch.setattr(consumer, "extend_items", count)
    monkeypatch.setattr(PoolConsumer, "_ahead", lambda consumer: 30)
    await add_pool(db, NAMES)
    await any_pools.maintainer.run_once()

    async with any_pools.consumer("news") as items:
        await items.take(1)
        for number in range(1, 6):
            clock.now += PREFETCH_LEASE / 3
            jump(PREFETCH_LEASE.total_seconds() / 3)
            await until(lambda number=number: extended == number, otherwise="the leases were not extended")
            await any_pools.maintainer.run_once()
        assert await counts(any_pools) == PoolCounts(used=1, leased=29)


async def test_a_use_that_cannot_be_recorded_is_reported(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(used_item_buffer, "mark_prefetched_used", away)
    used_items = UsedItemBuffer(db, PoolKey(1, TITLES), timeout=0.05)
    used_items.add(HeldItem(PoolItem(id, ""), "token") for id in (1, 2, 3))

    with pytest.raises(ItemsNotMarkedUsed) as told:
        await used_items.close()

    assert told.value.ids == [1, 2, 3]
