"""Redirects: which ones move a feed, when, and what happens when somebody lives there already."""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select

from feedmill.model.feed import FeedStatus
from feedmill.model.refresh import Updated
from feedmill.model.times import to_text
from feedmill.store.schema import entries, feed_urls, feeds, states, subscriptions
from tests.flows.world import HOUR, World, answer, item
from tests.www import Answer


def to(location: str, status: int = 301) -> Answer:
    return Answer(status=status, headers={"Location": location})


@pytest.mark.parametrize("status", [301, 308])
async def test_a_permanent_redirect_that_holds_three_times_moves_the_feed(any_world: World, status: int) -> None:
    world = any_world
    there = world.web.serve("/there", answer(item("a")), host="127.0.0.2")
    feed = await world.add("/feed", to(there, status))

    urls = []
    for _ in range(3):
        await world.later(HOUR, feed)
        urls.append((await world.feed(feed)).url)

    assert urls == [feed.url, feed.url, there]
    [row] = await world.rows(feed_urls)
    assert (row["feed_id"], row["url"], row["until"]) == (feed.id, feed.url, to_text(world.now))
    [moved] = await world.db.query(select(feeds.c.host, feeds.c.moved_to, feeds.c.moved_times))
    assert tuple(moved.values()) == (urlsplit(there).hostname, None, 0)
    assert await world.titles() == ["a"]


async def test_the_moved_feed_is_asked_at_its_new_place_and_nothing_is_new_there(world: World) -> None:
    there = world.web.serve("/there", answer(item("a")))
    feed = await world.add("/feed", to(there))
    for _ in range(3):
        await world.later(HOUR, feed)
    asked = len(world.web.requests)

    await world.later(HOUR, feed, answer(item("b"), item("a")), path="/there")

    assert [request.path for request in world.web.requests[asked:]] == ["/there"]
    assert await world.titles() == ["a", "b"]


@pytest.mark.parametrize("status", [302, 303, 307])
async def test_a_temporary_redirect_never_moves_a_feed(world: World, status: int) -> None:
    there = world.web.serve("/there", answer(item("a")))
    feed = await world.add("/feed", to(there, status))

    for _ in range(5):
        await world.later(HOUR, feed)

    after = await world.feed(feed)
    assert (after.url, after.moved_to, after.moved_times) == (feed.url, None, 0)


async def test_a_redirect_that_changes_its_mind_starts_anew(world: World) -> None:
    for path in ("/x", "/y"):
        world.web.serve(path, answer(item("a")))
    feed = await world.add("/feed", to("/x"))

    for target in ("/x", "/x", "/y", "/y"):
        await world.later(HOUR, feed, to(target))

    after = await world.feed(feed)
    assert (after.url, after.moved_to, after.moved_times) == (feed.url, world.web.url("/y"), 2)


async def test_a_redirect_that_ends_is_forgotten(world: World) -> None:
    world.web.serve("/there", answer(item("a")))
    feed = await world.add("/feed", to("/there"))
    for _ in range(2):
        await world.later(HOUR, feed)

    await world.later(HOUR, feed, answer(item("a")))

    assert (await world.feed(feed)).moved_times == 0


async def test_a_url_that_is_too_long_to_keep_is_fetched_and_not_moved_to(any_world: World) -> None:
    world = any_world
    far = f"/{'x' * 3000}"
    world.web.serve(far, answer(item("a")))
    feed = await world.add("/feed", to(far))

    for _ in range(4):
        decision = await world.later(HOUR, feed)
        assert decision.schedule.at is not None

    assert (await world.feed(feed)).url == feed.url
    assert await world.titles() == ["a"]


async def test_a_feed_that_moves_onto_another_merges_with_it(world: World) -> None:
    there = await world.add("/there", answer(item("b"), item("a")))
    feed = await world.add("/feed", answer(item("a"), item("only here")))
    alice = await world.user("Alice", 11)
    await world.subscribe(alice, feed)
    for one in (there, feed):
        await world.refresh(one)
    [starred] = await world.rows(entries, feed_id=feed.id, title="a")
    await world.put(states, user_id=alice, entry_id=starred["id"], starred_at=to_text(world.now))

    for _ in range(3):
        await world.later(HOUR, feed, to(there.url))

    assert sorted(await world.titles()) == ["a", "b", "only here"]
    assert [row["feed_id"] for row in await world.rows(subscriptions)] == [there.id]
    [star] = await world.rows(states)
    assert star["entry_id"] == (await world.rows(entries, title="a"))[0]["id"]
    retired = await world.feed(feed)
    assert (retired.status, retired.next_fetch_at, retired.moved_to) == (FeedStatus.DISABLED, None, there.url)


async def test_after_the_merge_nothing_is_new_again(world: World) -> None:
    there = await world.add("/there", answer(item("a")))
    feed = await world.add("/feed", answer(item("a"), item("only here")))
    for one in (there, feed):
        await world.refresh(one)
    for _ in range(3):
        await world.later(HOUR, feed, to(there.url))

    decision = await world.later(timedelta(days=1), there, answer(item("only here"), item("a")), path="/there")

    assert isinstance(decision, Updated)
    assert decision.changes.new == ()
    assert sorted(await world.titles()) == ["a", "only here"]
