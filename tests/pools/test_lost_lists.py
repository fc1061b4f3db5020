"""When Redis loses its lists: what our own calls hand out comes back at once, what others may have is held back."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest
from redis.asyncio import Redis

from feedmill.coordination.fallback import CoordinationCircuitBreaker
from feedmill.coordination.redis_client import connect
from feedmill.coordination.redis_pool_queues import RedisPoolQueues, connect_without_retry
from feedmill.coordination.redis_slots_and_locks import RedisLocks
from feedmill.errors import CoordinationUnavailable
from feedmill.model.pool import LossPolicy, OnLoss, PoolCounts, PoolItemState, PoolKind, PoolOptions
from feedmill.pools.errors import PoolEmpty
from feedmill.pools.fill import Filler
from feedmill.pools.lost_lists import RPOP_MEMORY
from feedmill.pools.pool import Pool
from feedmill.pools.pool_tools import PoolLists, PoolTools
from feedmill.pools.service import PoolService
from feedmill.store.database import Database
from feedmill.store.pools.lists import read_list_record
from tests.pools.conftest import Clock
from tests.pools.pool_rows import LEASE, MINUTE, SECOND, add_pool, items_of
from tests.pools.test_fill import BrokenQueues
from tests.services.server import free_port

TITLES = PoolKind.TITLES
NAMES = ["a", "b", "c", "d"]
RELEASE = LossPolicy(OnLoss.RELEASE, release_after_seconds=600)
RPOP_DECLARED = LossPolicy(others_rpop=True)


async def counts(pools: PoolService) -> PoolCounts:
    return (await pools.status("news", TITLES)).counts


async def texts(pools: PoolService) -> list[str]:
    return [item.text for item in await pools.pop("news", TITLES, 100)]


async def rpop(redis: Redis, group_id: int, count: int = 1) -> list[int]:
    """What a program does that knows nothing but Redis; the ids that it got."""
    taken = await redis.rpop(f"titles:pool:{group_id}", count)  # type: ignore[misc]
    return [msgspec.json.decode(row)["id"] for row in taken or ()]


async def test_a_wiped_list_that_only_we_take_from_is_handed_out_at_once(
    pools: PoolService, db: Database, redis: Redis
) -> None:
    await add_pool(db, NAMES)
    await pools.maintainer.run_once()
    await pools.pop("news", TITLES)
    await redis.flushall()

    assert await texts(pools) == ["b", "c", "d"]

    with pytest.raises(PoolEmpty):
        await pools.pop("news", TITLES)
    assert await counts(pools) == PoolCounts(used=4)


async def test_a_wiped_list_is_filled_again_in_order_and_without_a_gap(
    pools: PoolService, db: Database, redis: Redis
) -> None:
    await add_pool(db, NAMES, PoolOptions(size=2, refill_below=2))
    await pools.maintainer.run_once()
    await redis.flushall()
    assert (await pools.status("news", TITLES)).is_list_lost

    await pools.maintainer.run_once()

    status = await pools.status("news", TITLES)
    assert (status.in_list, status.counts, status.is_list_lost) == (2, PoolCounts(available=2, queued=2), False)
    assert await texts(pools) == NAMES
    assert {item["attempts"] for item in await items_of(db)} == {1}


async def test_a_consumer_goes_on_after_the_list_was_wiped(pools: PoolService, db: Database, redis: Redis) -> None:
    await add_pool(db, NAMES)
    await pools.maintainer.run_once()

    async with pools.consumer("news", wait=False) as items:
        first = await anext(items)
        await redis.flushall()
        rest = [item.text async for item in items]

    assert [first.text, *rest] == NAMES
    assert await counts(pools) == PoolCounts(used=4)


async def test_while_redis_is_down_items_of_its_list_are_handed_out_and_not_again_when_it_is_back(
    pools: PoolService, db: Database, clock: Clock
) -> None:
    await add_pool(db, NAMES)
    await pools.maintainer.run_once()
    gone, locks = (make(f"redis://127.0.0.1:{free_port()}/0") for make in (connect_without_retry, connect))
    lists = PoolLists(RedisPoolQueues(gone), RedisLocks(locks), CoordinationCircuitBreaker(retry_after=0))
    cut_off = PoolService(PoolTools(db, pools.tools.texts, lists, clock))

    assert [item.text for item in await cut_off.pop("news", TITLES, 3)] == ["a", "b", "c"]

    assert await texts(pools) == ["d"]
    await pools.maintainer.run_once()
    assert (await pools.status("news", TITLES)).in_list == 0
    await gone.aclose()
    await locks.aclose()


async def test_an_installation_that_gave_up_redis_hands_out_what_was_in_its_lists(
    pools: PoolService, bare_pools: PoolService, db: Database
) -> None:
    await add_pool(db, NAMES)
    await pools.maintainer.run_once()

    assert await texts(bare_pools) == NAMES


async def test_after_a_program_took_with_rpop_a_wiped_list_is_held_back(
    pools: PoolService, db: Database, redis: Redis
) -> None:
    group = await add_pool(db, NAMES)
    await pools.maintainer.run_once()
    taken = await rpop(redis, group.id)
    await pools.maintainer.run_once()
    await redis.flushall()

    with pytest.raises(PoolEmpty):
        await pools.pop("news", TITLES)
    await pools.maintainer.run_once()

    assert await counts(pools) == PoolCounts(held=4)
    with pytest.raises(PoolEmpty):
        await pools.pop("news", TITLES)
    lost = await pools.lost("news", TITLES)
    assert (len(lost), {item.is_held for item in lost}, taken[0] in {item.id for item in lost}) == (4, {True}, True)
    assert await pools.release_lost("news", TITLES) == 4
    assert await texts(pools) == NAMES


async def test_a_list_from_which_rpop_was_announced_is_held_back_from_the_first_item_on(
    pools: PoolService, db: Database, redis: Redis
) -> None:
    group = await add_pool(db, NAMES)
    await pools.change("news", loss=RPOP_DECLARED)
    await pools.maintainer.run_once()
    await rpop(redis, group.id)
    await redis.flushall()

    await pools.maintainer.run_once()

    assert await counts(pools) == PoolCounts(held=4)


async def test_what_is_still_in_a_list_that_others_take_from_is_not_in_doubt(
    pools: PoolService, db: Database, redis: Redis
) -> None:
    group = await add_pool(db, NAMES, PoolOptions(size=4, refill_below=4))
    await pools.change("news", loss=RPOP_DECLARED)
    await pools.maintainer.run_once()
    await rpop(redis, group.id)
    await redis.delete(f"titles:pool:{group.id}:state")

    await pools.maintainer.run_once()

    assert await counts(pools) == PoolCounts(queued=3, held=1)
    assert await texts(pools) == ["b", "c", "d"]


async def test_programs_that_took_with_rpop_long_ago_no_longer_count(
    pools: PoolService, db: Database, redis: Redis, clock: Clock
) -> None:
    group = await add_pool(db, NAMES)
    await pools.maintainer.run_once()
    await redis.lpush(f"titles:pool:{group.id}:used", *await rpop(redis, group.id))  # type: ignore[misc]
    await pools.maintainer.run_once()
    clock.now += RPOP_MEMORY
    await redis.flushall()

    assert await texts(pools) == ["b", "c", "d"]


async def test_a_use_that_is_reported_after_its_item_was_held_back_counts(
    pools: PoolService, db: Database, redis: Redis
) -> None:
    group = await add_pool(db, NAMES)
    await pools.change("news", loss=RPOP_DECLARED)
    await pools.maintainer.run_once()
    taken = await rpop(redis, group.id, 3)
    await redis.flushall()
    await pools.maintainer.run_once()

    await redis.lpush(f"titles:pool:{group.id}:used", *taken)  # type: ignore[misc]
    await pools.maintainer.run_once()

    assert await counts(pools) == PoolCounts(used=3, held=1)


async def test_held_items_are_released_after_the_time_that_the_group_says(
    pools: PoolService, db: Database, redis: Redis, clock: Clock
) -> None:
    await add_pool(db, NAMES)
    await pools.change("news", loss=replace(RELEASE, others_rpop=True))
    await pools.maintainer.run_once()
    await redis.flushall()
    await pools.maintainer.run_once()

    clock.now += RELEASE.release_after - SECOND
    await pools.maintainer.run_once()
    assert await counts(pools) == PoolCounts(held=4)
    clock.now += SECOND
    await pools.maintainer.run_once()

    assert await texts(pools) == NAMES


async def test_held_items_wait_for_ever_if_the_group_says_so(
    pools: PoolService, db: Database, redis: Redis, clock: Clock
) -> None:
    await add_pool(db, NAMES)
    await pools.change("news", loss=RPOP_DECLARED)
    await pools.maintainer.run_once()
    await redis.flushall()
    await pools.maintainer.run_once()

    clock.now += timedelta(days=365)
    await pools.maintainer.run_once()

    assert await counts(pools) == PoolCounts(held=4)


async def test_held_items_can_be_marked_as_used(pools: PoolService, db: Database, redis: Redis) -> None:
    await add_pool(db, NAMES)
    await pools.change("news", loss=RPOP_DECLARED)
    await pools.maintainer.run_once()
    await redis.flushall()
    await pools.maintainer.run_once()

    assert await pools.settle_lost("news", TITLES) == 4

    assert await counts(pools) == PoolCounts(used=4)


@pytest.mark.parametrize(
    ("loss", "left"), [(LossPolicy(), PoolCounts(available=2)), (RPOP_DECLARED, PoolCounts(held=2))]
)
async def test_what_a_killed_filler_reserved_is_found(
    pools: PoolService, lists: PoolLists, db: Database, clock: Clock, loss: LossPolicy, left: PoolCounts
) -> None:
    await add_pool(db, NAMES[:2])
    group = await pools.change("news", loss=loss)
    await Filler(pools.tools, lists).empty(Pool(group, TITLES))
    with pytest.raises(CoordinationUnavailable):
        await Filler(pools.tools, replace(lists, queues=BrokenQueues(lists, after=False))).fill(Pool(group, TITLES))
    await pools.change("news", paused=True)

    for _ in range(3):
        clock.now += MINUTE
        await pools.maintainer.run_once()
        assert await counts(pools) == PoolCounts(queued=2)
    clock.now += MINUTE
    await pools.maintainer.run_once()

    assert await counts(pools) == left


async def test_an_item_that_a_program_reports_within_a_minute_is_not_held_back(
    pools: PoolService, db: Database, redis: Redis, clock: Clock
) -> None:
    group = await add_pool(db, NAMES)
    await pools.maintainer.run_once()
    clock.now += 10 * MINUTE
    taken = await rpop(redis, group.id)
    await pools.maintainer.run_once()
    await redis.lpush(f"titles:pool:{group.id}:used", *taken)  # type: ignore[misc]

    await pools.maintainer.run_once()

    assert await counts(pools) == PoolCounts(used=1, queued=3)


async def test_an_item_that_a_program_never_reports_is_held_back(
    pools: PoolService, db: Database, redis: Redis, clock: Clock
) -> None:
    group = await add_pool(db, NAMES)
    await pools.maintainer.run_once()
    clock.now += 10 * MINUTE
    await rpop(redis, group.id)

    await pools.maintainer.run_once()
    await pools.maintainer.run_once()

    assert await counts(pools) == PoolCounts(held=1, queued=3)


async def test_a_filler_that_was_overtaken_by_a_recovery_leaves_nothing_in_doubt(
    pools: PoolService, lists: PoolLists, db: Database, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redis is wiped after the filler has reserved and before it pushes; another process recovers meanwhile."""
    await add_pool(db, NAMES)
    group = await pools.change("news", loss=RPOP_DECLARED)
    pool, slow = Pool(group, TITLES), Filler(pools.tools, lists)
    reserved, go_on = asyncio.Event(), asyncio.Event()

    async def limit_push(queued: list[object]) -> list[object]:
        reserved.set()
        await go_on.wait()
        return queued

    monkeypatch.setattr(Filler, "_limit_push", staticmethod(limit_push))
    filling = asyncio.create_task(slow.fill(pool))
    await reserved.wait()
    await redis.flushall()
    monkeypatch.undo()
    await Filler(pools.tools, lists).fill(pool)
    assert (await counts(pools)).held == 4
    go_on.set()

    assert await filling == 0

    assert await counts(pools) == PoolCounts(available=4)


async def test_a_pool_with_leases_gets_back_what_a_lost_list_had(
    pools: PoolService, db: Database, redis: Redis
) -> None:
    await add_pool(db, NAMES)
    await pools.maintainer.run_once()
    await redis.flushall()

    await pools.change("news", titles=LEASE)
    await pools.maintainer.run_once()

    assert [item.text for item in (await pools.lease("news", TITLES, 9)).items] == NAMES


async def test_many_pops_after_a_loss_hand_out_every_item_once(pools: PoolService, db: Database, redis: Redis) -> None:
    await add_pool(db, [f"e{number}" for number in range(100)])
    await pools.maintainer.run_once()
    await redis.flushall()

    async def pop_all() -> list[int]:
        taken: list[int] = []
        try:
            while True:
                taken += [item.id for item in await pools.pop("news", TITLES, 7)]
        except PoolEmpty:
            return taken

    handed = await asyncio.gather(*(pop_all() for _ in range(4)), pools.maintainer.run_once(), pop_all())
    rest = await pop_all()

    ids = [id for some in (*handed, rest) if some for id in some]
    assert len(ids) == len(set(ids)) == 100


async def test_a_lost_list_that_was_recovered_is_recorded_with_its_new_token(
    pools: PoolService, db: Database, redis: Redis
) -> None:
    group = await add_pool(db, NAMES)
    await pools.maintainer.run_once()
    pool = Pool(group, TITLES)
    first = await read_list_record(db, pool.key)
    await redis.flushall()

    await pools.maintainer.run_once()

    second = await read_list_record(db, pool.key)
    assert first.life != second.life
    assert await redis.hget(f"titles:pool:{group.id}:state", "life") == second.life  # type: ignore[misc]
    assert {item["status"] for item in await items_of(db)} == {PoolItemState.QUEUED}
