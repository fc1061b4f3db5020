"""Redirects: which ones move a feed, when, and what happens when somebody lives there already."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select

from feedmill.archive.purge import RetentionPeriods, purge
from feedmill.collect import refresh
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.feed import Feed, FeedStatus
from feedmill.model.refresh import Updated
from feedmill.model.timestamps import to_iso
from feedmill.store.entries.marks import steps_to_mark
from feedmill.store.feeds.feeds_by_url import feed_ids_by_any_url
from feedmill.store.feeds.lifecycle import remove_feed
from feedmill.store.feeds.merge_feeds import Merge, merge_feeds
from feedmill.store.feeds.read_feeds import feed_of_url
from feedmill.store.feeds.url_history import merged_feeds
from feedmill.store.schema import entries, feed_urls, feeds, states, subscriptions, unread, unread_lists
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of
from tests.flows.refresh_environment import DAY, HOUR, NOW, RefreshEnvironment, answer, encrypted, item
from tests.scripted_web import Answer


def to(location: str, status: int = 301) -> Answer:
    return Answer(status=status, headers={"Location": location})


@pytest.mark.parametrize("status", [301, 308])
async def test_a_permanent_redirect_that_holds_three_times_moves_the_feed(
    any_env: RefreshEnvironment, status: int
) -> None:
    env = any_env
    there = env.web.serve("/there", answer(item("a")))
    feed = await env.add("/feed", to(there, status))

    urls = []
    for _ in range(3):
        await env.later(HOUR, feed)
        urls.append((await env.feed(feed)).url)

    assert urls == [feed.url, feed.url, there]
    [row] = await env.rows(feed_urls)
    assert (row["feed_id"], row["url"], row["until"]) == (feed.id, feed.url, to_iso(env.now))
    [moved] = await env.db.query(select(feeds.c.host, feeds.c.moved_to, feeds.c.moved_count))
    assert tuple(moved.values()) == (urlsplit(there).hostname, None, 0)
    assert await env.titles() == ["a"]


async def test_the_moved_feed_is_asked_at_its_new_place_and_nothing_is_new_there(env: RefreshEnvironment) -> None:
    there = env.web.serve("/there", answer(item("a")))
    feed = await env.add("/feed", to(there))
    for _ in range(3):
        await env.later(HOUR, feed)
    asked = len(env.web.requests)

    await env.later(HOUR, feed, answer(item("b"), item("a")), path="/there")

    assert [request.path for request in env.web.requests[asked:]] == ["/there"]
    assert await env.titles() == ["a", "b"]


@pytest.mark.parametrize("status", [302, 303, 307])
async def test_a_temporary_redirect_never_moves_a_feed(env: RefreshEnvironment, status: int) -> None:
    there = env.web.serve("/there", answer(item("a")))
    feed = await env.add("/feed", to(there, status))

    for _ in range(5):
        await env.later(HOUR, feed)

    after = await env.feed(feed)
    assert (after.url, after.moved_to, after.moved_count) == (feed.url, None, 0)


async def test_a_redirect_that_changes_its_mind_starts_anew(env: RefreshEnvironment) -> None:
    for path in ("/x", "/y"):
        env.web.serve(path, answer(item("a")))
    feed = await env.add("/feed", to("/x"))

    for target in ("/x", "/x", "/y", "/y"):
        await env.later(HOUR, feed, to(target))

    after = await env.feed(feed)
    assert (after.url, after.moved_to, after.moved_count) == (feed.url, env.web.url("/y"), 2)


async def test_a_redirect_that_ends_is_forgotten(env: RefreshEnvironment) -> None:
    env.web.serve("/there", answer(item("a")))
    feed = await env.add("/feed", to("/there"))
    for _ in range(2):
        await env.later(HOUR, feed)

    await env.later(HOUR, feed, answer(item("a")))

    assert (await env.feed(feed)).moved_count == 0


async def test_a_url_that_is_too_long_to_keep_is_fetched_and_not_moved_to(any_env: RefreshEnvironment) -> None:
    env = any_env
    far = f"/{'x' * 3000}"
    env.web.serve(far, answer(item("a")))
    feed = await env.add("/feed", to(far))

    for _ in range(4):
        decision = await env.later(HOUR, feed)
        assert decision.schedule.at is not None

    assert (await env.feed(feed)).url == feed.url
    assert await env.titles() == ["a"]


# --- where another feed is, or another site ------------------------------------------------------------------


class RedirectedFeed:
    """A feed that Alice reads and that redirects to another one; each `fetch` is an hour after the last."""

    def __init__(self, env: RefreshEnvironment) -> None:
        self.env = env

    async def prepare(self, *items: str) -> None:
        self.feed = await self.env.add("/feed", answer(*items))
        self.alice = await self.env.user("Alice", 11)
        await self.env.put(unread_lists, id=11, user_id=self.alice, created_at=to_iso(NOW))
        self.subscription = await self.env.subscribe(self.alice, self.feed)
        await self.env.refresh(self.feed)

    async def redirect(self, url: str, times: int) -> None:
        for _ in range(times):
            await self.env.later(HOUR, self.feed, to(url))

    async def read(self, title: str) -> None:
        [row] = await self.env.rows(entries, feed_id=self.feed.id, title=title)
        await self.env.db.batch(steps_to_mark(self.alice, [row["id"]], EntryMarks(read=True), self.env.now, DAY))

    async def unread(self) -> list[tuple[int, str]]:
        """Feed and title of what is unread for Alice."""
        rows = await self.env.db.query(
            select(entries.c.feed_id, entries.c.title)
            .join(unread, unread.c.entry_id == entries.c.id)
            .where(unread.c.list_id == 11)
            .order_by(entries.c.feed_id, entries.c.title)
        )
        return [(row["feed_id"], row["title"]) for row in rows]

    async def reads(self) -> set[int]:
        return {row["feed_id"] for row in await self.env.rows(subscriptions, user_id=self.alice)}

    async def titles_of(self, feed: Feed) -> list[str]:
        return sorted(row["title"] for row in await self.env.rows(entries, feed_id=feed.id))

    async def at(self, url: str) -> Feed:
        found = await feed_of_url(self.env.db, url)
        assert found is not None
        return found


@pytest.fixture
def redirected(env: RefreshEnvironment) -> RedirectedFeed:
    return RedirectedFeed(env)


FORGED = {"guid": "tomorrow", "link": "https://example.org/tomorrow"}


async def test_a_feed_that_redirects_cannot_put_entries_into_another_feed(any_env: RefreshEnvironment) -> None:
    env, redirected = any_env, RedirectedFeed(any_env)
    genuine = await env.add("/there", answer(item("today")), host="127.0.0.2")
    await env.refresh(genuine)
    await redirected.prepare(item("forged", "a lie", **FORGED))
    await redirected.redirect(genuine.url, 3)
    await env.refresh(genuine)
    await redirected.redirect(genuine.url, 1)

    env.now += HOUR
    env.web.serve("/there", answer(item("true", "the truth", **FORGED), item("today")), "127.0.0.2")
    decision = await env.refresh(genuine)

    assert isinstance(decision, Updated)
    assert [entry.title for entry in decision.changes.new] == ["true"]
    assert await redirected.titles_of(genuine) == ["today", "true"]
    assert "forged" in await redirected.titles_of(redirected.feed)
    assert (genuine.id, "true") in await redirected.unread()


async def test_a_feed_cannot_be_at_another_ones_url_before_it(any_env: RefreshEnvironment) -> None:
    """Nobody reads the genuine feed yet: the forged entries must not be there when somebody does."""
    env, redirected = any_env, RedirectedFeed(any_env)
    url = env.web.serve("/there", answer(item("true", "the truth", **FORGED)), "127.0.0.2")
    await redirected.prepare(item("forged", "a lie", **FORGED))

    await redirected.redirect(url, 3)
    await env.refresh(await redirected.at(url))
    await redirected.redirect(url, 1)

    genuine = await redirected.at(url)
    assert genuine.id != redirected.feed.id
    [row] = await env.rows(entries, feed_id=genuine.id)
    assert (row["title"], row["content_html"], row["revision_count"]) == ("true", "the truth", 0)
    assert await redirected.titles_of(redirected.feed) == ["forged"]
    assert await redirected.reads() == {redirected.feed.id, genuine.id}


async def test_a_feed_that_moves_to_another_site_takes_its_readers_and_what_they_did_along(
    env: RefreshEnvironment, redirected: RedirectedFeed
) -> None:
    url = env.web.serve("/there", answer(item("read"), item("unread")), "127.0.0.2")
    await redirected.prepare(item("read"), item("unread"))
    await redirected.read("read")

    await redirected.redirect(url, 3)
    there = await redirected.at(url)
    assert str(there.next_fetch_why) == f"{redirected.feed.url} moved here"
    await env.refresh(there)
    await redirected.redirect(url, 1)

    assert await redirected.unread() == [(there.id, "unread")]
    assert await redirected.reads() == {there.id}
    [row] = await env.rows(subscriptions, user_id=redirected.alice)
    assert (row["id"], row["unread_count"]) == (redirected.subscription, 1)
    assert [row["entry_id"] for row in await env.rows(states)] == [
        row["id"] for row in await env.rows(entries, feed_id=there.id, title="read")
    ]
    retired = await env.feed(redirected.feed)
    assert (retired.status, retired.next_fetch_at, retired.moved_to) == (FeedStatus.DISABLED, None, url)


async def test_what_comes_during_a_move_is_unread_once(env: RefreshEnvironment, redirected: RedirectedFeed) -> None:
    there = await env.add("/there", answer(item("a")), host="127.0.0.2")
    await env.refresh(there)
    await redirected.prepare(item("a"))
    await redirected.redirect(there.url, 2)
    env.web.serve("/there", answer(item("by redirect"), item("a")), "127.0.0.2")
    await redirected.redirect(there.url, 1)
    assert (redirected.feed.id, "by redirect") in await redirected.unread()

    await env.refresh(await redirected.at(there.url))
    env.now += HOUR
    env.web.serve("/there", answer(item("there first"), item("by redirect"), item("a")), "127.0.0.2")
    await env.refresh(await redirected.at(there.url))
    await redirected.redirect(there.url, 1)
    env.web.serve("/there", answer(item("after"), item("there first"), item("by redirect")), "127.0.0.2")
    await env.refresh(await redirected.at(there.url))

    assert await redirected.unread() == [(there.id, title) for title in ("a", "after", "by redirect", "there first")]


async def test_the_readers_go_over_only_when_the_feed_there_has_been_fetched(
    env: RefreshEnvironment, redirected: RedirectedFeed
) -> None:
    url = env.web.serve("/there", answer(item("a")), "127.0.0.2")
    await redirected.prepare(item("a"))

    await redirected.redirect(url, 5)

    assert await redirected.reads() == {redirected.feed.id}
    assert (await env.feed(redirected.feed)).status is FeedStatus.ACTIVE


async def test_a_feed_that_fails_at_the_new_place_is_not_hurried(
    env: RefreshEnvironment, redirected: RedirectedFeed
) -> None:
    there = await env.add("/there", answer(item("a")), host="127.0.0.2")
    await env.change(there, consecutive_failures=3, next_fetch_at=to_iso(env.now + 9 * HOUR))
    await redirected.prepare(item("a"))

    await redirected.redirect(there.url, 4)

    assert (await env.feed(there)).next_fetch_at == NOW + 9 * HOUR


async def test_a_feed_at_a_place_that_nobody_moved_to_after_all_rests(
    env: RefreshEnvironment, redirected: RedirectedFeed
) -> None:
    url = env.web.serve("/there", answer(item("a")), "127.0.0.2")
    await redirected.prepare(item("a"))
    await redirected.redirect(url, 3)
    await env.refresh(await redirected.at(url))
    await env.later(HOUR, redirected.feed, answer(item("a")))
    assert (await redirected.at(url)).next_fetch_at is not None

    await purge(env.db, env.blobs, RetentionPeriods(), env.now)

    assert (await redirected.at(url)).next_fetch_at is None
    assert (await env.feed(redirected.feed)).next_fetch_at is not None


async def test_nobody_is_sent_to_a_feed_that_an_admin_paused(
    env: RefreshEnvironment, redirected: RedirectedFeed
) -> None:
    there = await env.add("/there", answer(item("a")))
    await env.refresh(there)
    await env.change(there, status="disabled", next_fetch_at=None)
    await redirected.prepare(item("a"))

    await redirected.redirect(there.url, 4)

    assert await redirected.reads() == {redirected.feed.id}
    assert (await env.feed(there)).status is FeedStatus.DISABLED


async def test_a_feed_that_moves_back_is_fetched_there_again(
    env: RefreshEnvironment, redirected: RedirectedFeed
) -> None:
    url = env.web.serve("/there", answer(item("a")), "127.0.0.2")
    await redirected.prepare(item("a"), item("older"))
    await redirected.redirect(url, 3)
    there = await redirected.at(url)
    await env.refresh(there)
    await redirected.redirect(url, 1)

    env.web.serve("/feed", answer(item("back"), item("a")))
    env.web.serve("/there", to(redirected.feed.url), "127.0.0.2")
    for _ in range(3):
        await env.later(HOUR, there)
    await env.refresh(redirected.feed)
    await env.later(HOUR, there)

    assert ((await env.feed(redirected.feed)).status, (await env.feed(there)).moved_to) == (
        "active",
        redirected.feed.url,
    )
    assert (redirected.feed.id, "back") in await redirected.unread()
    assert await merged_feeds(env.db) == {there.id: redirected.feed.id}


async def test_a_feed_that_was_paused_during_a_move_has_not_moved_away(
    env: RefreshEnvironment, redirected: RedirectedFeed
) -> None:
    await redirected.prepare(item("a"))
    await redirected.redirect(env.web.serve("/elsewhere", answer(item("a"))), 1)
    await env.change(redirected.feed, status="disabled", next_fetch_at=None)
    other = await env.add("/other", to(redirected.feed.url))

    for _ in range(4):
        await env.later(HOUR, other)

    assert (await env.feed(redirected.feed)).status is FeedStatus.DISABLED
    [mine] = await subscriptions_of(env.db, redirected.alice)
    assert mine.state == "stopped"


async def test_a_feed_that_moved_twice_leads_to_where_it_is_now(any_env: RefreshEnvironment) -> None:
    env = any_env
    feeds = [await env.add(f"/{name}", answer(item(name))) for name in ("first", "second", "third")]
    first, second, third = feeds
    for source, target in ((first, second), (second, third)):
        await merge_feeds(env.db, Merge(source.id, source.url, target.id, target.url), env.now)

    assert await merged_feeds(env.db) == {first.id: third.id, second.id: third.id}
    assert await feed_ids_by_any_url(env.db, [feed.url for feed in feeds]) == {feed.url: third.id for feed in feeds}
    await remove_feed(env.db, third.id, env.now)
    assert await feed_ids_by_any_url(env.db, [first.url]) == {first.url: first.id}


async def test_a_login_is_not_sent_to_another_site(env: RefreshEnvironment, redirected: RedirectedFeed) -> None:
    url = env.web.serve("/there", answer(item("a")), "127.0.0.2")
    await redirected.prepare(item("a"))
    await env.change(redirected.feed, http_options=encrypted('{"cookie": "secret"}').value)

    await redirected.redirect(url, 4)

    assert await feed_of_url(env.db, url) is None
    assert (await env.feed(redirected.feed)).url == redirected.feed.url


async def test_a_merge_that_was_killed_is_done_by_the_next_fetch(
    env: RefreshEnvironment, redirected: RedirectedFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = await env.add("/there", answer(item("a")), host="127.0.0.2")
    await redirected.prepare(item("a"))
    await redirected.redirect(there.url, 3)
    await env.refresh(there)
    with monkeypatch.context() as killed:
        killed.setattr(refresh, "merge_feeds", _killed)
        with pytest.raises(ConnectionAbortedError):
            await redirected.redirect(there.url, 1)
    assert await redirected.reads() == {redirected.feed.id}

    await env.refresh(there)
    await redirected.redirect(there.url, 1)

    assert await redirected.reads() == {there.id}


async def test_a_merge_that_takes_too_long_is_no_outage_and_goes_on_at_the_next_fetch(
    env: RefreshEnvironment, redirected: RedirectedFeed, monkeypatch: pytest.MonkeyPatch, logged: list[Any]
) -> None:
    there = await env.add("/there", answer(item("a")), host="127.0.0.2")
    await redirected.prepare(item("a"))
    await redirected.redirect(there.url, 3)
    await env.refresh(there)
    with monkeypatch.context() as slow:
        slow.setattr(refresh, "merge_feeds", _endless)
        slow.setattr(refresh, "MERGE_TIME", timedelta(0))
        await redirected.redirect(there.url, 1)
    assert await redirected.reads() == {redirected.feed.id}
    assert "feed_merge_interrupted" in [line["event"] for line in logged]

    await env.refresh(there)
    await redirected.redirect(there.url, 1)

    assert await redirected.reads() == {there.id}


async def _endless(*_: object) -> None:
    await asyncio.Event().wait()


async def _killed(*_: object) -> None:
    raise ConnectionAbortedError


@pytest.mark.parametrize("interruption", [_endless, _killed])
async def test_what_came_before_an_interrupted_merge_is_unread_after_it(
    env: RefreshEnvironment, redirected: RedirectedFeed, monkeypatch: pytest.MonkeyPatch, interruption: Any
) -> None:
    there = await env.add("/there", answer(item("a")), host="127.0.0.2")
    await redirected.prepare(item("a"))
    await redirected.redirect(there.url, 3)
    env.web.serve("/there", answer(item("new"), item("a")), "127.0.0.2")
    env.now += HOUR
    await env.refresh(there)
    with monkeypatch.context() as interrupted, suppress(ConnectionAbortedError):
        interrupted.setattr(refresh, "merge_feeds", interruption)
        interrupted.setattr(refresh, "MERGE_TIME", timedelta(0))
        await redirected.redirect(there.url, 1)
    assert await redirected.reads() == {redirected.feed.id}

    await env.refresh(there)
    await redirected.redirect(there.url, 1)

    assert await redirected.reads() == {there.id}
    assert (there.id, "new") in await redirected.unread()


async def test_after_the_merge_nothing_is_new_again(env: RefreshEnvironment, redirected: RedirectedFeed) -> None:
    there = await env.add("/there", answer(item("a")))
    await redirected.prepare(item("a"), item("only here"))
    await redirected.redirect(there.url, 3)
    await env.refresh(there)
    await redirected.redirect(there.url, 1)

    decision = await env.later(DAY, there, answer(item("a", "revised")), path="/there")

    assert isinstance(decision, Updated)
    assert decision.changes.new == ()
    assert await redirected.titles_of(there) == ["a"]
    assert await redirected.titles_of(redirected.feed) == ["a", "only here"]
