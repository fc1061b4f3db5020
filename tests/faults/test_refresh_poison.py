"""A feed that our own code or database can't digest: it is not asked again and again, and holds up nobody."""

import asyncio

import pytest

from feedmill.store.database import Row
from tests.faults.conftest import MakeWorld
from tests.faults.farm import POISON
from tests.faults.world import World, until

PAUSE = 1.0


async def test_a_feed_that_makes_our_code_fail_is_asked_no_more_often_than_others(make_world: MakeWorld) -> None:
    async with make_world(feeds=20) as world:
        world.farm.poison("/3")

        feed = await _live_with(world, "/3", most=4, stumbles=True)

        assert "a failure of our own" in feed["next_fetch_why"]
        assert (feed["last_fetched_at"], feed["consecutive_failures"]) == (None, 0)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_feed_that_the_database_refuses_is_asked_no_more_often_than_others(
    make_world: MakeWorld, kind: str
) -> None:
    async with make_world(feeds=20, kind=kind) as world:
        world.farm.poison("/3")
        await world.db.exec(f"CREATE UNIQUE INDEX once ON entries (title) WHERE title = '{POISON}'")

        try:
            feed = await _live_with(world, "/3", most=1)
        finally:
            await world.db.exec("DROP INDEX once")

        assert "can't be stored" in feed["next_fetch_why"]
        assert feed["consecutive_failures"] == 1


async def _live_with(world: World, poisoned: str, most: int, **wishes: bool) -> Row:
    """The poisoned feed, after two pauses in which it was asked no more often than it may be."""

    async def others_are_done() -> bool:
        return all(feed["last_fetched_at"] for feed in await world.feeds() if not feed["url"].endswith(poisoned))

    await world.make_due()
    mill = await world.start(storage_pause=PAUSE, **wishes)
    await until(others_are_done, 30, "the others were held up")
    await asyncio.sleep(2 * PAUSE)
    code = await mill.stop()

    [feed] = [feed for feed in await world.feeds() if feed["url"].endswith(poisoned)]
    asked = world.farm.asked()
    assert code == 0
    assert asked.pop(poisoned) <= most
    assert set(asked.values()) == {1}
    assert (feed["entry_count"], feed["etag"]) == (0, None)
    assert await world.claims() == []
    return feed
