"""Statistics of pools: rate of use, items from the database, and filling on command."""

from feedmill.html.sanitize import sanitize_html
from feedmill.model.pool import PoolKind, PoolOptions
from feedmill.pools.item_texts import ItemTexts
from feedmill.pools.pool_tools import PoolTools
from feedmill.pools.service import PoolService
from feedmill.store.database import Database
from tests.pools.conftest import Clock
from tests.pools.pool_rows import LEASE, MINUTE, NOW, add_pool

TITLES = PoolKind.TITLES
SMALL = PoolOptions(size=10, refill_below=4)


async def test_uses_are_counted_per_minute(any_db: Database, clock: Clock) -> None:
    pools = PoolService(PoolTools(any_db, ItemTexts(sanitize_html), clock=clock))
    await add_pool(any_db, ["a", "b", "c", "d"])
    for minutes, most in ((0, 1), (61, 2), (62, 1)):
        clock.now = NOW + minutes * MINUTE
        await pools.pop("news", TITLES, most)

    used = await pools.used_lately("news", TITLES, NOW + MINUTE)

    assert used == {NOW + 61 * MINUTE: 2, NOW + 62 * MINUTE: 1}
    assert await pools.used_lately("news", PoolKind.CONTENTS, NOW) == {}


async def test_a_list_is_filled_up_on_command_low_or_not(pools: PoolService, db: Database) -> None:
    await add_pool(db, [f"e{number:02}" for number in range(30)], SMALL)
    first = await pools.fill("news")
    await pools.pop("news", TITLES, 3)

    again = await pools.fill("news")

    assert (first, again) == (20, 3)
    assert (await pools.status("news", TITLES)).in_list == 10


async def test_a_pool_with_leases_has_no_list_to_fill(pools: PoolService, db: Database) -> None:
    await add_pool(db, ["a"], LEASE)

    assert await pools.fill("news") == 0


async def test_items_that_the_database_supplied_are_counted(
    pools: PoolService, bare_pools: PoolService, db: Database
) -> None:
    group = await add_pool(db, ["a", "b", "c"])

    await pools.pop("news", TITLES, 2)
    await bare_pools.pop("news", TITLES, 1)

    assert pools.fallbacks(group.id, TITLES) == 2
    assert pools.fallbacks(group.id, PoolKind.CONTENTS) == 0
    assert bare_pools.fallbacks(group.id, TITLES) == 0
