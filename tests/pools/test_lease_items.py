"""At least once: items that are not acknowledged in time come back, and repeated failures become dead letters."""

from datetime import timedelta

import pytest

from feedmill.model.pool import Guarantee, PoolCounts, PoolItemState, PoolKind, PoolOptions
from feedmill.pools.errors import PoolEmpty, WrongGuarantee
from feedmill.pools.service import PoolService
from feedmill.store.database import Database
from tests.pools.conftest import Clock
from tests.pools.pool_rows import LEASE, MINUTE, SECOND, add_pool

TITLES = PoolKind.TITLES


async def test_an_acknowledged_item_never_comes_back(any_pools: PoolService, db: Database, clock: Clock) -> None:
    await add_pool(db, ["a", "b"], LEASE)

    leased = await any_pools.lease("news", TITLES, 2, who="alice")
    assert await any_pools.ack("news", TITLES, leased.token, [leased.items[0].id]) == 1
    clock.now += 61 * SECOND
    await any_pools.maintainer.run_once()

    assert leased.until == clock.now - SECOND
    assert leased.attempts == (1, 1)
    again = await any_pools.lease("news", TITLES, 9)
    assert [item.text for item in again.items] == ["b"]
    assert again.attempts == (2,)


async def test_an_expired_lease_comes_back_without_a_background_task(
    bare_pools: PoolService, db: Database, clock: Clock
) -> None:
    await add_pool(db, ["a"], LEASE)
    first = await bare_pools.lease("news", TITLES)
    with pytest.raises(PoolEmpty):
        await bare_pools.lease("news", TITLES)

    clock.now += MINUTE

    assert (await bare_pools.lease("news", TITLES)).items == first.items


async def test_a_returned_item_is_next(any_pools: PoolService, db: Database) -> None:
    await add_pool(db, ["a", "b", "c"], LEASE)
    leased = await any_pools.lease("news", TITLES, 2)

    assert await any_pools.nack("news", TITLES, leased.token, [leased.items[1].id]) == 1

    assert [item.text for item in (await any_pools.lease("news", TITLES, 2)).items] == ["b", "c"]


async def test_a_worker_that_was_too_slow_cannot_settle_the_next_lease(
    any_pools: PoolService, db: Database, clock: Clock
) -> None:
    await add_pool(db, ["a"], LEASE)
    slow = await any_pools.lease("news", TITLES)
    ids = [item.id for item in slow.items]
    clock.now += MINUTE
    await any_pools.maintainer.run_once()
    await any_pools.lease("news", TITLES)

    assert await any_pools.ack("news", TITLES, slow.token, ids) == 0
    assert await any_pools.nack("news", TITLES, slow.token, ids) == 0
    assert await any_pools.extend("news", TITLES, slow.token, ids, MINUTE) == 0

    assert (await any_pools.status("news", TITLES)).counts == PoolCounts(leased=1)


async def test_a_lease_can_be_extended(any_pools: PoolService, db: Database, clock: Clock) -> None:
    await add_pool(db, ["a"], LEASE)
    leased = await any_pools.lease("news", TITLES, length=timedelta(seconds=10))

    assert await any_pools.extend("news", TITLES, leased.token, [leased.items[0].id], timedelta(seconds=30)) == 1
    clock.now += 20 * SECOND
    await any_pools.maintainer.run_once()

    assert (await any_pools.status("news", TITLES)).counts == PoolCounts(leased=1)


async def test_dead_letters_are_listed_and_requeued_on_command(
    any_pools: PoolService, db: Database, clock: Clock
) -> None:
    await add_pool(db, ["a"], PoolOptions(guarantee=Guarantee.LEASE, most_attempts=2))
    for _ in range(2):
        await any_pools.lease("news", TITLES)
        clock.now += MINUTE
        await any_pools.maintainer.run_once()

    with pytest.raises(PoolEmpty):
        await any_pools.lease("news", TITLES)
    [dead] = await any_pools.items("news", TITLES, PoolItemState.DEAD)
    assert dead.attempts == 2
    assert await any_pools.requeue("news", TITLES) == 1
    assert len((await any_pools.lease("news", TITLES)).items) == 1


async def test_leasing_from_a_pool_without_leases_is_refused(any_pools: PoolService, db: Database) -> None:
    await add_pool(db, ["a"])

    with pytest.raises(WrongGuarantee, match="use pop"):
        await any_pools.lease("news", TITLES)
