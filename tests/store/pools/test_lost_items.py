"""Items in doubt on each of the four databases: held back, released, settled, and never in two states."""

import pytest

from feedmill.model.pool import PoolCounts, PoolItemState, PoolKey, PoolKind
from feedmill.store.database import Database
from feedmill.store.pools.groups import drop_group
from feedmill.store.pools.items import claim_items, count_items, extend_items, give_back_items, undo_queueing
from feedmill.store.pools.lists import PoolListRecord, end_list_life, read_list_record, record_rpop, set_list_life
from feedmill.store.pools.lost_items import (
    count_queued,
    held_or_queued_before,
    hold_expired_items,
    hold_items,
    release_held_items,
    release_items,
    settle_items_in_doubt,
    some_queued_ids,
    still_in_doubt,
    unqueue_items,
)
from feedmill.store.pools.prefetched_items import mark_prefetched_used, take_queued_items
from tests.pools.pool_rows import MINUTE, NOW, SECOND, add_pool, items_of

TITLES = PoolKind.TITLES


@pytest.fixture
async def pool(any_db: Database) -> PoolKey:
    return PoolKey((await add_pool(any_db, ["a", "b", "c"])).id, TITLES)


async def queue(db: Database, pool: PoolKey, most: int) -> list[int]:
    return [item.id for item in await claim_items(db, pool, most, PoolItemState.QUEUED, "filler/1", NOW)]


async def test_only_queued_items_are_held_back_or_unqueued(any_db: Database, pool: PoolKey) -> None:
    first, second = await queue(any_db, pool, 2)
    every = [item["id"] for item in await items_of(any_db)]
    assert await count_queued(any_db, pool) == 2

    assert await hold_items(any_db, [first], NOW) == 1
    assert await hold_items(any_db, [first], NOW) == 0
    assert await some_queued_ids(any_db, pool) == [second]
    assert await unqueue_items(any_db, every, NOW) == 1  # type: ignore[arg-type]

    assert await count_items(any_db, pool) == PoolCounts(available=2, held=1)
    assert [item["attempts"] for item in await items_of(any_db)] == [1, 0, 0]


async def test_an_unqueued_item_keeps_its_place_and_a_released_one_goes_to_the_head(
    any_db: Database, pool: PoolKey
) -> None:
    ids = await queue(any_db, pool, 3)
    await unqueue_items(any_db, ids[:2], NOW)
    await hold_items(any_db, ids[2:], NOW)

    assert await release_items(any_db, ids, NOW) == 1

    items = await claim_items(any_db, pool, 3, PoolItemState.USED, "t", NOW)
    assert [item.title for item in items] == ["c", "a", "b"]


async def test_held_items_are_released_by_the_time_since_when_they_are_held(any_db: Database, pool: PoolKey) -> None:
    first, second = await queue(any_db, pool, 2)
    await hold_items(any_db, [first], NOW)
    await hold_items(any_db, [second], NOW + MINUTE)

    assert await release_held_items(any_db, pool, NOW - SECOND, NOW) == 0
    assert await release_held_items(any_db, pool, NOW, NOW) == 1

    assert await count_items(any_db, pool) == PoolCounts(available=2, held=1)


async def test_held_and_long_queued_items_are_listed(any_db: Database, pool: PoolKey) -> None:
    first, second, third = await queue(any_db, pool, 3)
    await hold_items(any_db, [first], NOW + MINUTE)
    await settle_items_in_doubt(any_db, [third], "t", NOW)

    listed = await held_or_queued_before(any_db, pool, NOW + SECOND)

    assert [(item.id, item.is_held, item.queued_by) for item in listed] == [
        (first, True, "filler/1"),
        (second, False, "filler/1"),
    ]
    assert [item.id for item in await held_or_queued_before(any_db, pool, NOW)] == [first]
    assert await still_in_doubt(any_db, [first, second, third]) == {first, second}


async def test_a_use_that_is_reported_counts_for_queued_and_held_items(any_db: Database, pool: PoolKey) -> None:
    ids = await queue(any_db, pool, 2)
    await hold_items(any_db, ids[:1], NOW)
    every = [item["id"] for item in await items_of(any_db)]

    assert await settle_items_in_doubt(any_db, every, "reported", NOW) == 2  # type: ignore[arg-type]

    assert await count_items(any_db, pool) == PoolCounts(available=1, used=2)


async def test_a_filler_undoes_its_reservation_also_if_it_was_held_back(any_db: Database, pool: PoolKey) -> None:
    ids = await queue(any_db, pool, 2)
    await hold_items(any_db, ids[:1], NOW)

    assert await undo_queueing(any_db, "filler/1", NOW) == 2

    assert await count_items(any_db, pool) == PoolCounts(available=3)


async def test_an_item_is_leased_to_a_consumer_only_while_it_is_queued(any_db: Database, pool: PoolKey) -> None:
    ids = await queue(any_db, pool, 2)
    await hold_items(any_db, ids[:1], NOW)
    every = [item["id"] for item in await items_of(any_db)]

    assert await take_queued_items(any_db, every, "mine", NOW + MINUTE, NOW) == 1  # type: ignore[arg-type]
    assert await take_queued_items(any_db, every, "other", NOW + MINUTE, NOW) == 0  # type: ignore[arg-type]

    assert await count_items(any_db, pool) == PoolCounts(available=1, held=1, leased=1)


async def test_items_of_a_consumer_are_held_back_when_their_lease_ends_and_still_marked_by_it(
    any_db: Database, pool: PoolKey
) -> None:
    ids = await queue(any_db, pool, 3)
    await take_queued_items(any_db, ids, "mine", NOW + MINUTE, NOW)
    await extend_items(any_db, pool, ids[2:], "mine", NOW + 2 * MINUTE)

    assert await hold_expired_items(any_db, pool, NOW + MINUTE - SECOND) == 0
    assert await hold_expired_items(any_db, pool, NOW + MINUTE) == 2
    assert await mark_prefetched_used(any_db, pool, ids, "other", NOW) == 0
    assert await mark_prefetched_used(any_db, pool, ids[1:], "mine", NOW) == 2

    assert await count_items(any_db, pool) == PoolCounts(held=1, used=2)


async def test_a_consumer_gives_back_what_it_did_not_hand_out(any_db: Database, pool: PoolKey) -> None:
    ids = await queue(any_db, pool, 3)
    await take_queued_items(any_db, ids, "mine", NOW + MINUTE, NOW)

    assert await give_back_items(any_db, pool, ids[1:], "mine", NOW) == 2

    assert await count_items(any_db, pool) == PoolCounts(available=2, leased=1)


async def test_the_record_of_a_list_is_kept_and_ended_by_its_token(any_db: Database, pool: PoolKey) -> None:
    assert await read_list_record(any_db, pool) == PoolListRecord()

    for life in ("first", "second"):
        await set_list_life(any_db, pool, life)
    await record_rpop(any_db, pool, NOW)

    assert await read_list_record(any_db, pool) == PoolListRecord("second", NOW)
    assert not await end_list_life(any_db, pool, "first")
    assert await end_list_life(any_db, pool, "second")
    assert await read_list_record(any_db, pool) == PoolListRecord(None, NOW)


async def test_a_list_of_a_group_that_was_deleted_is_not_recorded(any_db: Database) -> None:
    group = await add_pool(any_db, ["a"])
    pool = PoolKey(group.id, TITLES)
    await set_list_life(any_db, pool, "life")

    await drop_group(any_db, group, NOW)
    await set_list_life(any_db, pool, "life")
    await record_rpop(any_db, pool, NOW)

    assert await read_list_record(any_db, pool) == PoolListRecord()
