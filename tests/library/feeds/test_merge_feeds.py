"""An admin's merge: what was kept stays reachable, and nobody writes to the feed that is gone."""

import pytest

from feedmill.collect.refresh import refresh_feed
from feedmill.library.feeds.change_url import change_feed_url
from feedmill.library.feeds.merge_feeds import NotMergeable, find_feed_to_merge, merge_into_feed, plan_merge
from feedmill.model.feed import Feed
from feedmill.model.user import Actor
from feedmill.store.admin.feeds import AdminFeed, read_admin_feed
from feedmill.store.archive.raw_bodies import feeds_with_raw_bodies
from feedmill.store.feeds.feeds_by_url import feed_ids_by_any_url
from feedmill.store.feeds.merge_feeds import MergePreview
from feedmill.store.feeds.record_refresh import ClaimLost
from feedmill.store.feeds.url_history import merged_feeds
from feedmill.store.schema import entries
from tests.flows.world import ENCRYPTION, HOUR, World, answer, item

ADMIN = Actor(7, None)


async def seen(world: World, feed: Feed) -> AdminFeed:
    found = await read_admin_feed(world.db, feed.id)
    assert found is not None
    return found


async def merged(world: World, source: Feed, target: Feed) -> MergePreview:
    feeds = await seen(world, source), await seen(world, target)
    preview, _ = await merge_into_feed(world.db, ENCRYPTION, *feeds, ADMIN, world.now)
    return preview


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

    preview = await merged(world, source, target)

    assert (preview.readers, preview.readers_of_both, preview.entries, preview.same_entries) == (2, 1, 2, 1)
    assert [entry.title for entry in preview.first_movable] == ["old"]
    assert sorted(await world.titles()) == ["new", "old", "twin", "twin"]


async def test_entries_move_up_to_the_last_one_that_was_shown(world: World, two: tuple[Feed, Feed]) -> None:
    source, target = two
    shown = (
        await plan_merge(world.db, ENCRYPTION, await seen(world, source), await seen(world, target))
    ).newest_movable
    world.now += HOUR
    world.web.serve("/a", answer(item("came since"), item("old")))
    await world.refresh(source)

    _, moved = await merge_into_feed(
        world.db,
        ENCRYPTION,
        await seen(world, source),
        await seen(world, target),
        ADMIN,
        world.now,
        move_entries=True,
        up_to=shown,
    )

    titles = [row["title"] for row in await world.rows(entries, feed_id=target.id)]
    assert (moved, sorted(titles)) == (1, ["new", "old", "twin"])


async def test_raw_bodies_are_kept_and_the_url_leads_to_the_other_feed_also_after_that_moved(
    world: World, two: tuple[Feed, Feed]
) -> None:
    source, target = two
    await merged(world, source, target)

    await change_feed_url(
        world.db, ENCRYPTION, await world.feed(target), "https://elsewhere.example/feed", ADMIN, world.now
    )

    assert await feeds_with_raw_bodies(world.db) == [source.id, target.id]
    assert await merged_feeds(world.db) == {source.id: target.id}
    assert await feed_ids_by_any_url(world.db, [source.url]) == {source.url: target.id}


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

    found = [(await find_feed_to_merge(world.db, text)).feed.id for text in (f" {target.id} ", target.url, source.url)]

    assert found == [target.id] * 3
