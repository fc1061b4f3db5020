"""At most once: what is handed out, in which order, and what happens when Redis or the database is down."""

import asyncio
from datetime import timedelta

import pytest
from redis.asyncio import Redis

from feedmill.coordination.fallback import CoordinationCircuitBreaker
from feedmill.coordination.redis_client import connect
from feedmill.coordination.redis_pool_queues import RedisPoolQueues, connect_without_retry
from feedmill.coordination.redis_slots_and_locks import RedisLocks
from feedmill.errors import DatabaseUnavailable
from feedmill.model.pool import ContentFormat, PoolCounts, PoolItemState, PoolKind, PoolOptions
from feedmill.model.user import Caller
from feedmill.pools.errors import NoPoolLists, PoolEmpty, PoolPaused, WrongGuarantee
from feedmill.pools.lost_items import LostItemSearch
from feedmill.pools.pool_tools import PoolLists, PoolTools
from feedmill.pools.service import PoolService
from feedmill.store.database import Database, Step
from feedmill.store.pools import lost_items
from feedmill.store.schema import entries, pool_items
from feedmill.store.users.users import add_user
from tests.pools.conftest import Clock
from tests.pools.pool_rows import LEASE, MINUTE, NOW, SECOND, add_pool, items_of, revise
from tests.services.server import free_port

TITLES, CONTENTS = PoolKind.TITLES, PoolKind.CONTENTS
AT_ONCE = LostItemSearch(timedelta(0), timedelta(0))


async def test_items_are_handed_out_in_order_each_once_until_the_pool_is_empty(
    any_pools: PoolService, db: Database
) -> None:
    await add_pool(db, ["a", "b", "c"])
    await any_pools.maintainer.run_once()

    first = await any_pools.pop("news", TITLES)
    rest = await any_pools.pop("news", TITLES, 10, who="alice")

    assert [item.text for item in [*first, *rest]] == ["a", "b", "c"]
    with pytest.raises(PoolEmpty, match="pool_empty"):
        await any_pools.pop("news", TITLES)
    assert (await any_pools.status("news", TITLES)).counts == PoolCounts(used=3)
    assert str((await items_of(db))[2]["taken_by"]).startswith("alice/")


async def test_concurrent_pops_never_get_the_same_item(any_pools: PoolService, db: Database) -> None:
    await add_pool(db, [f"e{number}" for number in range(100)])
    await any_pools.maintainer.run_once()

    handed = await asyncio.gather(*(any_pools.pop("news", TITLES, 10) for _ in range(10)))

    assert len({item.id for items in handed for item in items}) == sum(map(len, handed)) == 100


async def test_an_empty_list_is_backed_by_the_database(pools: PoolService, db: Database, redis: Redis) -> None:
    group = await add_pool(db, ["a", "b", "c", "d"], PoolOptions(size=2, refill_below=1))
    await pools.maintainer.run_once()
    assert await redis.llen(f"titles:pool:{group.id}") == 2

    handed = await pools.pop("news", TITLES, 4)

    assert [item.text for item in handed] == ["a", "b", "c", "d"]


async def test_items_in_a_list_are_not_lost(pools: PoolService, db: Database, clock: Clock) -> None:
    await add_pool(db, ["a", "b"])
    await pools.maintainer.run_once()
    clock.now += MINUTE

    assert await pools.lost("news", TITLES, AT_ONCE) == []
    assert await pools.release_lost("news", TITLES, AT_ONCE) == 0


async def test_items_that_a_filler_may_still_push_are_not_lost(pools: PoolService, db: Database, redis: Redis) -> None:
    await add_pool(db, ["a"])
    await pools.maintainer.run_once()
    await redis.flushall()

    assert await pools.lost("news", TITLES, LostItemSearch(look_again=timedelta(0))) == []


async def test_while_redis_is_down_no_queued_item_counts_as_lost(
    pools: PoolService, bare_pools: PoolService, db: Database, clock: Clock
) -> None:
    await add_pool(db, ["a"])
    await pools.maintainer.run_once()
    clock.now += SECOND

    with pytest.raises(NoPoolLists, match="setting redis"):
        await bare_pools.release_lost("news", TITLES, AT_ONCE)


async def test_items_of_programs_that_never_report_uses_can_be_settled(
    pools: PoolService, db: Database, redis: Redis, clock: Clock
) -> None:
    group = await add_pool(db, ["a", "b", "c"])
    await pools.maintainer.run_once()
    await redis.rpop(f"titles:pool:{group.id}", 2)
    clock.now += SECOND

    assert await pools.settle_lost("news", TITLES, AT_ONCE) == 2

    assert (await pools.status("news", TITLES)).counts == PoolCounts(queued=1, used=2)


async def test_without_redis_the_same_call_is_served_and_its_return_is_noticed(
    db: Database, pools: PoolService, clock: Clock
) -> None:
    await add_pool(db, ["a", "b", "c"])
    gone = connect_without_retry(f"redis://127.0.0.1:{free_port()}/0")
    locks = connect(f"redis://127.0.0.1:{free_port()}/0")
    lists = PoolLists(RedisPoolQueues(gone), RedisLocks(locks), CoordinationCircuitBreaker(retry_after=0))
    alone = PoolService(PoolTools(db, pools.tools.texts, lists, clock))
    await alone.maintainer.run_once()

    assert [item.text for item in await alone.pop("news", TITLES)] == ["a"]
    trouble = alone.last_failure((await alone.group("news")).id, TITLES)
    assert trouble is not None
    assert str(trouble.reason).startswith("Redis does not answer")
    assert (await alone.status("news", TITLES)).in_list is None
    await pools.maintainer.run_once()
    assert (await pools.status("news", TITLES)).in_list == 2
    assert [item.text for item in await pools.pop("news", TITLES, 9)] == ["b", "c"]
    await gone.aclose()
    await locks.aclose()


async def test_an_entry_edited_after_queueing_is_handed_out_with_its_current_text(
    any_pools: PoolService, db: Database
) -> None:
    await add_pool(db, ["a", "b"])
    await any_pools.maintainer.run_once()
    [first, _] = await items_of(db)
    await revise(db, first["entry_id"], "a, <b>corrected</b>", any_pools.tools.clock() + SECOND)  # type: ignore[arg-type]

    handed = await any_pools.pop("news", TITLES, 2)

    assert [item.text for item in handed] == ["a, corrected", "b"]


async def test_an_entry_purged_after_queueing_is_not_handed_out(any_pools: PoolService, db: Database) -> None:
    await add_pool(db, ["a", "b"])
    await any_pools.maintainer.run_once()
    [first, _] = await items_of(db)
    await db.batch(
        [
            Step(pool_items.delete().where(pool_items.c.entry_id == first["entry_id"])),
            Step(entries.delete().where(entries.c.id == first["entry_id"])),
        ]
    )

    handed = await any_pools.pop("news", TITLES, 2)

    assert [item.text for item in handed] == ["b"]


async def test_contents_are_safe_html_or_plain_text_by_setting(any_pools: PoolService, db: Database) -> None:
    group = await add_pool(db, ["<script>alert(1)</script>one", "two"])
    await any_pools.maintainer.run_once()

    [html] = await any_pools.pop("news", CONTENTS)
    await any_pools.change(group.id, contents=PoolOptions(form=ContentFormat.TEXT))
    if any_pools.tools.lists:
        await any_pools.drain("news", CONTENTS)
    [text] = await any_pools.pop("news", CONTENTS)

    assert html.text == "<p>one</p>"
    assert text.text == "two"


async def test_a_huge_text_is_a_reference_in_the_list_and_handed_out_whole(
    pools: PoolService, db: Database, redis: Redis
) -> None:
    group = await add_pool(db, ["x" * 300], PoolOptions(most_in_list=100))
    user = await add_user(db, "alice", None, True, NOW)
    admin = Caller(user, user.scopes)
    await pools.maintainer.run_once()
    [item] = await items_of(db)

    listed = await redis.lrange(f"titles:pool:{group.id}", 0, -1)  # type: ignore[misc]

    assert listed == [f'{{"id":{item["id"]},"text":"","ref":"/api/pools/items/{item["id"]}"}}']
    assert (await pools.item_for(admin, item["id"])).text == "x" * 300  # type: ignore[arg-type,union-attr]
    assert [item.text for item in await pools.pop("news", TITLES)] == ["x" * 300]


async def test_a_paused_group_hands_out_nothing_and_is_not_filled(any_pools: PoolService, db: Database) -> None:
    await add_pool(db, ["a"])
    await any_pools.change("news", paused=True)
    await any_pools.maintainer.run_once()

    with pytest.raises(PoolPaused, match="pool_paused"):
        await any_pools.pop("news", TITLES)
    assert (await any_pools.status("news", TITLES)).counts == PoolCounts(available=1)
    await any_pools.change("news", paused=False)
    assert len(await any_pools.pop("news", TITLES)) == 1


async def test_popping_from_a_pool_with_leases_is_refused(any_pools: PoolService, db: Database) -> None:
    await add_pool(db, ["a"], LEASE)

    with pytest.raises(WrongGuarantee, match="use lease"):
        await any_pools.pop("news", TITLES)


async def test_items_that_the_database_could_not_mark_go_back_to_the_list(
    pools: PoolService, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Handed out without a mark, they would be handed out again if Redis lost its list now."""
    await add_pool(db, ["a", "b"])
    await pools.maintainer.run_once()

    async def away(*args: object) -> int:
        raise DatabaseUnavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr("feedmill.pools.pop.settle_items", away)
        with pytest.raises(DatabaseUnavailable):
            await pools.pop("news", TITLES, 2)

    assert (await pools.status("news", TITLES)).in_list == 2
    assert [item.text for item in await pools.pop("news", TITLES, 2)] == ["a", "b"]


async def test_an_item_that_was_released_meanwhile_is_not_handed_out_from_the_list_too(
    pools: PoolService, db: Database, clock: Clock
) -> None:
    await add_pool(db, ["a", "b"])
    await pools.maintainer.run_once()
    [first, _] = await items_of(db)
    await lost_items.release_items(db, [first["id"]], clock())  # type: ignore[list-item]

    handed = await pools.pop("news", TITLES, 9)

    assert sorted(item.text for item in handed) == ["a", "b"]
    assert {row["status"] for row in await items_of(db)} == {PoolItemState.USED}


async def test_an_item_that_is_in_the_list_twice_is_handed_out_once_and_counted(
    pools: PoolService, db: Database, redis: Redis
) -> None:
    group = await add_pool(db, ["a", "b"])
    await pools.maintainer.run_once()
    name = f"titles:pool:{group.id}"
    twice = (await redis.lrange(name, -1, -1))[0]  # type: ignore[misc]
    await redis.lpush(name, twice)  # type: ignore[misc]

    first = await pools.pop("news", TITLES, 2)
    with pytest.raises(PoolEmpty):
        await pools.pop("news", TITLES)

    assert [item.text for item in first] == ["a", "b"]
    assert (pools.duplicates(group.id, TITLES), pools.duplicates(group.id, CONTENTS)) == (1, 0)


async def test_used_items_are_handed_out_again_only_on_command(any_pools: PoolService, db: Database) -> None:
    await add_pool(db, ["a"])
    await any_pools.pop("news", TITLES)
    await any_pools.maintainer.run_once()
    with pytest.raises(PoolEmpty):
        await any_pools.pop("news", TITLES)

    assert await any_pools.requeue("news", TITLES, PoolItemState.USED) == 1

    assert [item.text for item in await any_pools.pop("news", TITLES)] == ["a"]
