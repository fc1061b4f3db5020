"""An admin's merge: what was kept stays reachable, and nobody writes to the feed that is gone."""

import pytest

from feedmill.collect.refresh import refresh_feed
from feedmill.library.administer import change_address
from feedmill.library.merging import NotMergeable, find_feed, merge
from feedmill.model.account import Actor
from feedmill.model.feed import Feed
from feedmill.store.additions import ids_of_urls
from feedmill.store.administered_feeds import Administered, Merging, read_administered
from feedmill.store.raw import feeds_with_bodies, merged_feeds
from feedmill.store.refreshes import ClaimLost
from tests.flows.world import World, answer, item

ADMIN = Actor(7, None)


async def seen(world: World, feed: Feed) -> Administered:
    found = await read_administered(world.db, feed.id)
    assert found is not None
    return found


async def merged(world: World, source: Feed, target: Feed) -> Merging:
    return await merge(world.db, await seen(world, source), await seen(world, target), ADMIN, world.now)


@pytest.fixture
async def two(world: World) -> tuple[Feed, Feed]:
    """Two feeds that share an item."""
    feeds = (
        await world.add("/a", answer(item("twin"), item("old"))),
        await world.add("/b", answer(item("twin"), item("new"))),
    )
    for feed in feeds:
        await world.refresh(feed)
    return feeds


async def test_what_it_comes_to_is_counted(world: World, two: tuple[Feed, Feed]) -> None:
    source, target = two
    alice, bob = await world.user("Alice", 11), await world.user("Bob", 12)
    for reader, feed in ((alice, source), (bob, source), (bob, target)):
        await world.subscribe(reader, feed)

    assert await merged(world, source, target) == Merging(readers=2, readers_of_both=1, entries=2, twins=1)
    assert sorted(await world.titles()) == ["new", "old", "twin"]


async def test_raw_bodies_are_kept_and_belong_to_the_heir_also_after_it_moved(
    world: World, two: tuple[Feed, Feed]
) -> None:
    source, target = two
    await merged(world, source, target)

    await change_address(world.db, await world.feed(target), "https://elsewhere.example/feed", ADMIN, world.now)

    assert await feeds_with_bodies(world.db) == [source.id, target.id]
    assert await merged_feeds(world.db) == {source.id: target.id}
    assert await ids_of_urls(world.db, [source.url]) == {source.url: target.id}


async def test_a_refresh_that_runs_meanwhile_brings_nothing_to_the_feed_that_is_gone(
    world: World, two: tuple[Feed, Feed]
) -> None:
    source, target = two
    world.web.serve("/a", answer(item("late")))
    claim = await world.claim(source)
    await merged(world, source, target)

    with pytest.raises(ClaimLost):
        await refresh_feed(world.tools, claim)

    assert "late" not in await world.titles()


async def test_neither_of_the_two_may_be_gone_already(world: World, two: tuple[Feed, Feed]) -> None:
    source, target = two
    third = await world.add("/c", answer(item("c")))
    await merged(world, source, target)

    for one, other in ((source, third), (third, source)):
        with pytest.raises(NotMergeable) as refused:
            await merged(world, one, other)
        assert refused.value.code == "merged_already"


async def test_a_feed_is_found_by_number_and_by_address(world: World, two: tuple[Feed, Feed]) -> None:
    source, target = two
    await merged(world, source, target)

    found = [(await find_feed(world.db, text)).feed.id for text in (f" {target.id} ", target.url, source.url)]

    assert found == [target.id] * 3
