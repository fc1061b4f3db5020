"""A feed that our own code or database can't digest: it is not asked again and again, and holds up nobody."""

import time

import pytest

from feedmill.store.database import Row
from tests.faults.conftest import MakeWorld
from tests.faults.farm import POISON
from tests.faults.world import World
from tests.waiting import until

PAUSE = 1.0


async def test_a_feed_that_makes_our_code_fail_is_asked_no_more_often_than_others(make_world: MakeWorld) -> None:
    async with make_world(feeds=20) as world:
        world.farm.poison("/3")

        feed, times, lasted = await _live_with(world, "/3", stumbles=True)

        assert times <= 2 + lasted / PAUSE
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
            feed, times, _ = await _live_with(world, "/3")
        finally:
            await world.db.exec("DROP INDEX once")

        assert times == 1
        assert "can't be stored" in feed["next_fetch_why"]
        assert feed["consecutive_failures"] == 1


async def _live_with(world: World, poisoned: str, **wishes: bool) -> tuple[Row, int, float]:
    """The poisoned feed, how often it was asked and for how long, while the others were fetched twice."""
    others = [path for path in world.farm.paths if path != poisoned]
    started = time.monotonic()

    async def others_are_fetched(times: int) -> None:
        def are_asked() -> bool:
            return {world.farm.asked().get(path) for path in others} == {times}

        await until(are_asked, otherwise="the others were held up")

    await world.make_due()
    mill = await world.start(storage_pause=PAUSE, **wishes)
    await others_are_fetched(1)
    await until(lambda: _are_stored(world, others), otherwise="the others were not stored")
    await world.make_due(others)
    await others_are_fetched(2)
    code = await mill.stop()
    lasted = time.monotonic() - started

    [feed] = [feed for feed in await world.feeds() if feed["url"].endswith(poisoned)]
    asked = world.farm.asked()
    assert code == 0
    times = asked.pop(poisoned)
    assert set(asked.values()) == {2}
    assert (feed["entry_count"], feed["etag"]) == (0, None)
    assert await world.claims() == []
    return feed, times, lasted


async def _are_stored(world: World, paths: list[str]) -> bool:
    return all(feed["last_fetched_at"] for feed in await world.feeds() if feed["url"].endswith(tuple(paths)))
