"""Redirects: which ones move a feed, when, and what happens when somebody lives there already."""

from urllib.parse import urlsplit

import pytest
from sqlalchemy import select

from feedmill.archive.retention import RetentionPeriods, purge
from feedmill.collect import refresh
from feedmill.model.entry_lists import EntryMarks
from feedmill.model.feed import Feed, FeedStatus
from feedmill.model.refresh import Updated
from feedmill.model.timestamps import to_iso
from feedmill.store.entries.marks import steps_to_mark
from feedmill.store.feeds.feeds_by_url import feed_ids_by_any_url
from feedmill.store.feeds.lifecycle import remove_feed
from feedmill.store.feeds.merge_feeds import Merge, merge_feeds
from feedmill.store.feeds.read_feeds import feed_of_url
from feedmill.store.feeds.url_history import merged_feeds
from feedmill.store.schema import entries, feed_urls, feeds, states, subscriptions, unread
from feedmill.store.subscriptions.subscriptions import subscriptions_of
from tests.flows.world import DAY, HOUR, NOW, World, answer, encrypted, item
from tests.www import Answer


def to(location: str, status: int = 301) -> Answer:
    return Answer(status=status, headers={"Location": location})


@pytest.mark.parametrize("status", [301, 308])
async def test_a_permanent_redirect_that_holds_three_times_moves_the_feed(any_world: World, status: int) -> None:
    world = any_world
    there = world.web.serve("/there", answer(item("a")))
    feed = await world.add("/feed", to(there, status))

    urls = []
    for _ in range(3):
        await world.later(HOUR, feed)
        urls.append((await world.feed(feed)).url)

    assert urls == [feed.url, feed.url, there]
    [row] = await world.rows(feed_urls)
    assert (row["feed_id"], row["url"], row["until"]) == (feed.id, feed.url, to_iso(world.now))
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


# --- where another feed is, or another site ------------------------------------------------------------------


class Mover:
    """A feed that Alice reads and that redirects to another one; each `fetch` is an hour after the last."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def prepare(self, *items: str) -> None:
        self.feed = await self.world.add("/feed", answer(*items))
        self.alice = await self.world.user("Alice", 11)
        self.subscription = await self.world.subscribe(self.alice, self.feed)
        await self.world.refresh(self.feed)

    async def redirect(self, url: str, times: int) -> None:
        for _ in range(times):
            await self.world.later(HOUR, self.feed, to(url))

    async def read(self, title: str) -> None:
        [row] = await self.world.rows(entries, feed_id=self.feed.id, title=title)
        await self.world.db.batch(steps_to_mark(self.alice, [row["id"]], EntryMarks(read=True), self.world.now, DAY))

    async def unread(self) -> list[tuple[int, str]]:
        """Feed and title of what is unread for Alice."""
        rows = await self.world.db.query(
            select(entries.c.feed_id, entries.c.title)
            .join(unread, unread.c.entry_id == entries.c.id)
            .where(unread.c.list_id == 11)
            .order_by(entries.c.feed_id, entries.c.title)
        )
        return [(row["feed_id"], row["title"]) for row in rows]

    async def reads(self) -> set[int]:
        return {row["feed_id"] for row in await self.world.rows(subscriptions, user_id=self.alice)}

    async def titles_of(self, feed: Feed) -> list[str]:
        return sorted(row["title"] for row in await self.world.rows(entries, feed_id=feed.id))

    async def at(self, url: str) -> Feed:
        found = await feed_of_url(self.world.db, url)
        assert found is not None
        return found


@pytest.fixture
def mover(world: World) -> Mover:
    return Mover(world)


FORGED = {"guid": "tomorrow", "link": "https://example.org/tomorrow"}


async def test_a_feed_that_redirects_cannot_put_entries_into_another_feed(any_world: World) -> None:
    world, mover = any_world, Mover(any_world)
    genuine = await world.add("/there", answer(item("today")), host="127.0.0.2")
    await world.refresh(genuine)
    await mover.prepare(item("forged", "a lie", **FORGED))
    await mover.redirect(genuine.url, 3)
    await world.refresh(genuine)
    await mover.redirect(genuine.url, 1)

    world.now += HOUR
    world.web.serve("/there", answer(item("true", "the truth", **FORGED), item("today")), "127.0.0.2")
    decision = await world.refresh(genuine)

    assert isinstance(decision, Updated)
    assert [entry.title for entry in decision.changes.new] == ["true"]
    assert await mover.titles_of(genuine) == ["today", "true"]
    assert "forged" in await mover.titles_of(mover.feed)
    assert (genuine.id, "true") in await mover.unread()


async def test_a_feed_cannot_be_at_another_ones_url_before_it(any_world: World) -> None:
    """Nobody reads the genuine feed yet: the forged entries must not be there when somebody does."""
    world, mover = any_world, Mover(any_world)
    url = world.web.serve("/there", answer(item("true", "the truth", **FORGED)), "127.0.0.2")
    await mover.prepare(item("forged", "a lie", **FORGED))

    await mover.redirect(url, 3)
    await world.refresh(await mover.at(url))
    await mover.redirect(url, 1)

    genuine = await mover.at(url)
    assert genuine.id != mover.feed.id
    [row] = await world.rows(entries, feed_id=genuine.id)
    assert (row["title"], row["content_html"], row["revision_count"]) == ("true", "the truth", 0)
    assert await mover.titles_of(mover.feed) == ["forged"]
    assert await mover.reads() == {mover.feed.id, genuine.id}


async def test_a_feed_that_moves_to_another_site_takes_its_readers_and_what_they_did_along(
    world: World, mover: Mover
) -> None:
    url = world.web.serve("/there", answer(item("read"), item("unread")), "127.0.0.2")
    await mover.prepare(item("read"), item("unread"))
    await mover.read("read")

    await mover.redirect(url, 3)
    there = await mover.at(url)
    assert str(there.next_fetch_why) == f"{mover.feed.url} moved here"
    await world.refresh(there)
    await mover.redirect(url, 1)

    assert await mover.unread() == [(there.id, "unread")]
    assert await mover.reads() == {there.id}
    [row] = await world.rows(subscriptions, user_id=mover.alice)
    assert (row["id"], row["unread_count"]) == (mover.subscription, 1)
    assert [row["entry_id"] for row in await world.rows(states)] == [
        row["id"] for row in await world.rows(entries, feed_id=there.id, title="read")
    ]
    retired = await world.feed(mover.feed)
    assert (retired.status, retired.next_fetch_at, retired.moved_to) == (FeedStatus.DISABLED, None, url)


async def test_what_comes_during_a_move_is_unread_once(world: World, mover: Mover) -> None:
    there = await world.add("/there", answer(item("a")), host="127.0.0.2")
    await world.refresh(there)
    await mover.prepare(item("a"))
    await mover.redirect(there.url, 2)
    world.web.serve("/there", answer(item("by redirect"), item("a")), "127.0.0.2")
    await mover.redirect(there.url, 1)
    assert (mover.feed.id, "by redirect") in await mover.unread()

    await world.refresh(await mover.at(there.url))
    world.now += HOUR
    world.web.serve("/there", answer(item("there first"), item("by redirect"), item("a")), "127.0.0.2")
    await world.refresh(await mover.at(there.url))
    await mover.redirect(there.url, 1)
    world.web.serve("/there", answer(item("after"), item("there first"), item("by redirect")), "127.0.0.2")
    await world.refresh(await mover.at(there.url))

    assert await mover.unread() == [(there.id, title) for title in ("a", "after", "by redirect", "there first")]


async def test_the_readers_go_over_only_when_the_feed_there_has_been_fetched(world: World, mover: Mover) -> None:
    url = world.web.serve("/there", answer(item("a")), "127.0.0.2")
    await mover.prepare(item("a"))

    await mover.redirect(url, 5)

    assert await mover.reads() == {mover.feed.id}
    assert (await world.feed(mover.feed)).status is FeedStatus.ACTIVE


async def test_a_feed_that_fails_at_the_new_place_is_not_hurried(world: World, mover: Mover) -> None:
    there = await world.add("/there", answer(item("a")), host="127.0.0.2")
    await world.change(there, consecutive_failures=3, next_fetch_at=to_iso(world.now + 9 * HOUR))
    await mover.prepare(item("a"))

    await mover.redirect(there.url, 4)

    assert (await world.feed(there)).next_fetch_at == NOW + 9 * HOUR


async def test_a_feed_at_a_place_that_nobody_moved_to_after_all_rests(world: World, mover: Mover) -> None:
    url = world.web.serve("/there", answer(item("a")), "127.0.0.2")
    await mover.prepare(item("a"))
    await mover.redirect(url, 3)
    await world.refresh(await mover.at(url))
    await world.later(HOUR, mover.feed, answer(item("a")))
    assert (await mover.at(url)).next_fetch_at is not None

    await purge(world.db, world.blobs, RetentionPeriods(), world.now)

    assert (await mover.at(url)).next_fetch_at is None
    assert (await world.feed(mover.feed)).next_fetch_at is not None


async def test_nobody_is_sent_to_a_feed_that_an_admin_paused(world: World, mover: Mover) -> None:
    there = await world.add("/there", answer(item("a")))
    await world.refresh(there)
    await world.change(there, status="disabled", next_fetch_at=None)
    await mover.prepare(item("a"))

    await mover.redirect(there.url, 4)

    assert await mover.reads() == {mover.feed.id}
    assert (await world.feed(there)).status is FeedStatus.DISABLED


async def test_a_feed_that_moves_back_is_fetched_there_again(world: World, mover: Mover) -> None:
    url = world.web.serve("/there", answer(item("a")), "127.0.0.2")
    await mover.prepare(item("a"), item("older"))
    await mover.redirect(url, 3)
    there = await mover.at(url)
    await world.refresh(there)
    await mover.redirect(url, 1)

    world.web.serve("/feed", answer(item("back"), item("a")))
    world.web.serve("/there", to(mover.feed.url), "127.0.0.2")
    for _ in range(3):
        await world.later(HOUR, there)
    await world.refresh(mover.feed)
    await world.later(HOUR, there)

    assert ((await world.feed(mover.feed)).status, (await world.feed(there)).moved_to) == ("active", mover.feed.url)
    assert (mover.feed.id, "back") in await mover.unread()
    assert await merged_feeds(world.db) == {there.id: mover.feed.id}


async def test_a_feed_that_was_paused_during_a_move_has_not_moved_away(world: World, mover: Mover) -> None:
    await mover.prepare(item("a"))
    await mover.redirect(world.web.serve("/elsewhere", answer(item("a"))), 1)
    await world.change(mover.feed, status="disabled", next_fetch_at=None)
    other = await world.add("/other", to(mover.feed.url))

    for _ in range(4):
        await world.later(HOUR, other)

    assert (await world.feed(mover.feed)).status is FeedStatus.DISABLED
    [mine] = await subscriptions_of(world.db, mover.alice)
    assert mine.state == "stopped"


async def test_a_feed_that_moved_twice_leads_to_where_it_is_now(any_world: World) -> None:
    world = any_world
    feeds = [await world.add(f"/{name}", answer(item(name))) for name in ("first", "second", "third")]
    first, second, third = feeds
    for source, target in ((first, second), (second, third)):
        await merge_feeds(world.db, Merge(source.id, source.url, target.id, target.url), world.now)

    assert await merged_feeds(world.db) == {first.id: third.id, second.id: third.id}
    assert await feed_ids_by_any_url(world.db, [feed.url for feed in feeds]) == {feed.url: third.id for feed in feeds}
    await remove_feed(world.db, third.id, world.now)
    assert await feed_ids_by_any_url(world.db, [first.url]) == {first.url: first.id}


async def test_a_login_is_not_sent_to_another_site(world: World, mover: Mover) -> None:
    url = world.web.serve("/there", answer(item("a")), "127.0.0.2")
    await mover.prepare(item("a"))
    await world.change(mover.feed, http_options=encrypted('{"cookie": "secret"}').value)

    await mover.redirect(url, 4)

    assert await feed_of_url(world.db, url) is None
    assert (await world.feed(mover.feed)).url == mover.feed.url


async def test_a_merge_that_was_killed_is_done_by_the_next_fetch(
    world: World, mover: Mover, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = await world.add("/there", answer(item("a")), host="127.0.0.2")
    await mover.prepare(item("a"))
    await mover.redirect(there.url, 3)
    await world.refresh(there)
    with monkeypatch.context() as killed:
        killed.setattr(refresh, "merge_feeds", _killed)
        with pytest.raises(ConnectionAbortedError):
            await mover.redirect(there.url, 1)
    assert await mover.reads() == {mover.feed.id}

    await world.refresh(there)
    await mover.redirect(there.url, 1)

    assert await mover.reads() == {there.id}


async def _killed(*_: object) -> None:
    raise ConnectionAbortedError


async def test_after_the_merge_nothing_is_new_again(world: World, mover: Mover) -> None:
    there = await world.add("/there", answer(item("a")))
    await mover.prepare(item("a"), item("only here"))
    await mover.redirect(there.url, 3)
    await world.refresh(there)
    await mover.redirect(there.url, 1)

    decision = await world.later(DAY, there, answer(item("a", "revised")), path="/there")

    assert isinstance(decision, Updated)
    assert decision.changes.new == ()
    assert await mover.titles_of(there) == ["a"]
    assert await mover.titles_of(mover.feed) == ["a", "only here"]
