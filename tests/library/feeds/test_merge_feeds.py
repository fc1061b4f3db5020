"""A merge by an admin: archived data stays reachable, and nothing is written to the merged feed."""

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
from tests.flows.refresh_environment import ENCRYPTION, HOUR, RefreshEnvironment, answer, item

ADMIN = Actor(7, None)


async def seen(env: RefreshEnvironment, feed: Feed) -> AdminFeed:
    found = await read_admin_feed(env.db, feed.id)
    assert found is not None
    return found


async def merged(env: RefreshEnvironment, source: Feed, target: Feed) -> MergePreview:
    feeds = await seen(env, source), await seen(env, target)
    preview, _ = await merge_into_feed(env.db, ENCRYPTION, *feeds, ADMIN, env.now)
    return preview


@pytest.fixture
async def two(env: RefreshEnvironment) -> tuple[Feed, Feed]:
    """Two feeds that share an item."""
    feeds = (
        await env.add("/a", answer(item("twin"), item("old"))),
        await env.add("/b", answer(item("twin"), item("new"))),
    )
    for feed in feeds:
        await env.refresh(feed)
    return feeds


async def test_the_effects_are_counted(env: RefreshEnvironment, two: tuple[Feed, Feed]) -> None:
    source, target = two
    alice, bob = await env.user("Alice", 11), await env.user("Bob", 12)
    for reader, feed in ((alice, source), (bob, source), (bob, target)):
        await env.subscribe(reader, feed)

    preview = await merged(env, source, target)

    assert (preview.readers, preview.readers_of_both, preview.entries, preview.same_entries) == (2, 1, 2, 1)
    assert [entry.title for entry in preview.first_movable] == ["old"]
    assert sorted(await env.titles()) == ["new", "old", "twin", "twin"]


async def test_entries_move_up_to_the_last_one_that_was_shown(env: RefreshEnvironment, two: tuple[Feed, Feed]) -> None:
    source, target = two
    shown = (await plan_merge(env.db, ENCRYPTION, await seen(env, source), await seen(env, target))).newest_movable
    env.now += HOUR
    env.web.serve("/a", answer(item("came since"), item("old")))
    await env.refresh(source)

    _, moved = await merge_into_feed(
        env.db,
        ENCRYPTION,
        await seen(env, source),
        await seen(env, target),
        ADMIN,
        env.now,
        move_entries=True,
        up_to=shown,
    )

    titles = [row["title"] for row in await env.rows(entries, feed_id=target.id)]
    assert (moved, sorted(titles)) == (1, ["new", "old", "twin"])


async def test_raw_bodies_are_kept_and_the_old_url_leads_to_the_target_also_after_that_moved(
    env: RefreshEnvironment, two: tuple[Feed, Feed]
) -> None:
    source, target = two
    await merged(env, source, target)

    await change_feed_url(env.db, ENCRYPTION, await env.feed(target), "https://elsewhere.example/feed", ADMIN, env.now)

    assert await feeds_with_raw_bodies(env.db) == [source.id, target.id]
    assert await merged_feeds(env.db) == {source.id: target.id}
    assert await feed_ids_by_any_url(env.db, [source.url]) == {source.url: target.id}


async def test_a_refresh_during_the_merge_adds_nothing_to_the_merged_feed(
    env: RefreshEnvironment, two: tuple[Feed, Feed]
) -> None:
    source, target = two
    env.web.serve("/a", answer(item("late")))
    claim = await env.claim(source)
    await merged(env, source, target)

    with pytest.raises(ClaimLost):
        await refresh_feed(env.tools, claim)

    assert "late" not in await env.titles()


async def test_a_merged_feed_cannot_be_merged_again(env: RefreshEnvironment, two: tuple[Feed, Feed]) -> None:
    source, target = two
    third = await env.add("/c", answer(item("c")))
    await merged(env, source, target)

    for one, other in ((source, third), (third, source)):
        with pytest.raises(NotMergeable) as refused:
            await merged(env, one, other)
        assert refused.value.code == "merged_already"


async def test_a_feed_is_found_by_id_and_by_url(env: RefreshEnvironment, two: tuple[Feed, Feed]) -> None:
    source, target = two
    await merged(env, source, target)

    found = [(await find_feed_to_merge(env.db, text)).feed.id for text in (f" {target.id} ", target.url, source.url)]

    assert found == [target.id] * 3
