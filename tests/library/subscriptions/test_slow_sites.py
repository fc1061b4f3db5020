"""Subscribing to a site that is slow: the first fetch finds out what is there."""

import asyncio
from datetime import timedelta

import pytest

from feedmill.archive.blobs import Blobs
from feedmill.collect.discovery.response_cache import ResponseCache
from feedmill.library.subscriptions.subscribe import SubscribeRequest, subscribe
from feedmill.model.feed import Feed
from feedmill.model.refresh import Failed, Unchanged, Updated
from feedmill.model.subscription import Subscription
from feedmill.model.user import User
from feedmill.store.feeds.claims import claim_due_feeds
from feedmill.store.feeds.feeds_by_url import feed_ids_by_any_url
from feedmill.store.schema import feeds, raw_bodies
from tests.flows.refresh_environment import HOUR, RefreshEnvironment, answer, encrypted, item
from tests.library.subscribers import Subscribers
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest
from tests.serve.rest.sample_feeds import page_with

LOGIN = '{"basic_auth":["alice","secret"]}'
PAGE = page_with("/feed")


class SlowSite:
    """Does not answer a request for its first address before it is allowed to."""

    def __init__(self, env: RefreshEnvironment, then: Answer, path: str = "/") -> None:
        self.may_answer = asyncio.Event()
        self._then = then
        self.url = env.web.serve(path, self._answer)

    async def _answer(self, seen: ReceivedRequest, connection: ClientConnection) -> None:
        await self.may_answer.wait()
        await connection.send(self._then.encode())


async def subscribe_to_slow(env: RefreshEnvironment, user: User, then: Answer) -> Subscription:
    """Subscribes to a site that answers only afterwards, with `then`."""
    site = SlowSite(env, then)
    request, impatient = SubscribeRequest(site.url), timedelta(milliseconds=50)
    done = await subscribe(env.tools, user, request, ResponseCache(), impatient)
    site.may_answer.set()
    assert not done.is_fetched
    return done.subscription


async def feed_at(env: RefreshEnvironment, subscription: Subscription) -> Feed:
    return await Subscribers(env).feed(subscription)


async def keys_in(blobs: Blobs) -> set[str]:
    return {blob.key async for blob in blobs.list_keys("backups/") if blob.key.endswith(".xml")}


async def test_a_slow_site_is_subscribed_to_by_its_url_and_due_at_once(env: RefreshEnvironment, alice: User) -> None:
    mine = await subscribe_to_slow(env, alice, answer(item("a"), title="News"))

    [claim] = await claim_due_feeds(env.db, env.now, 10)

    assert (mine.url, mine.state, mine.last_fetched_at) == (env.web.url("/"), "queued", None)
    assert claim.feed.id == mine.feed_id


async def test_the_first_fetch_of_a_slow_feed_has_its_entries(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    mine = await subscribe_to_slow(env, alice, answer(item("a"), item("b"), title="News"))

    await subscribers.refresh(mine)

    [shown] = await subscribers.mine(alice)
    assert (shown.id, shown.title, shown.url, shown.unread_count) == (mine.id, "News", mine.url, 2)


async def test_a_subscription_to_a_page_moves_to_its_only_feed(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    url = env.web.serve("/feed", answer(item("a"), headers={"ETag": '"1"'}, title="News"))
    mine = await subscribe_to_slow(env, alice, PAGE)

    decision = await env.refresh(await feed_at(env, mine))

    [shown] = await subscribers.mine(alice)
    assert isinstance(decision, Updated)
    assert (shown.id, shown.feed_id, shown.url, shown.unread_count) == (mine.id, mine.feed_id, url, 1)
    assert (await feed_at(env, shown)).etag == '"1"'
    assert await feed_ids_by_any_url(env.db, [mine.url, url]) == {mine.url: mine.feed_id, url: mine.feed_id}
    # Of the page nothing is kept: every body in the object store has its row.
    assert {row["key"] for row in await env.rows(raw_bodies)} == await keys_in(env.blobs)


async def test_the_feed_of_a_page_may_be_at_another_site(env: RefreshEnvironment, alice: User) -> None:
    url = env.web.serve("/feed", answer(item("a")), "127.0.0.9")
    mine = await subscribe_to_slow(env, alice, page_with(url))

    await env.refresh(await feed_at(env, mine))

    assert ((await feed_at(env, mine)).url, await env.titles()) == (url, ["a"])


@pytest.mark.parametrize(("host", "follows"), [("127.0.0.1", True), ("127.0.0.9", False)])
async def test_after_another_body_a_page_leads_only_to_a_feed_of_its_own_site(
    env: RefreshEnvironment, alice: User, host: str, follows: bool
) -> None:
    url = env.web.serve("/feed", answer(item("a")), host)
    mine = await subscribe_to_slow(env, alice, Answer(b"a body that a later parser may read"))
    await env.refresh(await feed_at(env, mine))

    await env.later(HOUR, await feed_at(env, mine), page_with(url), "/")

    assert ((await feed_at(env, mine)).url == url, await env.titles()) == (follows, ["a"] if follows else [])


async def test_if_the_feed_of_a_page_exists_the_subscribers_move_to_it(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, bob: User
) -> None:
    his = (await subscribers.subscribe(bob, env.web.serve("/feed", answer(item("a"), title="News")))).subscription
    mine = await subscribe_to_slow(env, alice, PAGE)

    decision = await env.refresh(await feed_at(env, mine))

    [shown] = await subscribers.mine(alice)
    assert isinstance(decision, Unchanged)
    assert (shown.id, shown.feed_id, shown.title, shown.unread_count) == (mine.id, his.feed_id, "News", 1)
    assert (await feed_at(env, mine)).merged_into == his.feed_id
    assert await env.titles() == ["a"]


async def test_a_second_subscription_by_way_of_a_page_is_dropped(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    first = (await subscribers.subscribe(alice, env.web.serve("/feed", answer(item("a"))))).subscription
    second = await subscribe_to_slow(env, alice, PAGE)

    await env.refresh(await feed_at(env, second))

    assert [each.id for each in await subscribers.mine(alice)] == [first.id]


async def test_a_page_with_several_feeds_fails_and_names_them(env: RefreshEnvironment, alice: User) -> None:
    mine = await subscribe_to_slow(env, alice, page_with("/one", "/two"))

    decision = await env.refresh(await feed_at(env, mine))

    assert isinstance(decision, Failed)
    one, two = env.web.url("/one"), env.web.url("/two")
    assert str(decision.message) == (
        f"this page has 2 feeds, so subscribe to one of them by its own address: {one} {two}"
    )
    assert decision.kind == "not_a_feed"
    assert not env.web.seen("/one")


@pytest.mark.parametrize("page", [Answer(b"<html>Soon</html>"), page_with("/missing")])
async def test_a_page_that_leads_to_no_feed_fails_without_guesses(
    env: RefreshEnvironment, alice: User, page: Answer
) -> None:
    env.web.serve("/rss.xml", answer(item("a")))
    mine = await subscribe_to_slow(env, alice, page)

    decision = await env.refresh(await feed_at(env, mine))

    assert isinstance(decision, Failed)
    assert (decision.kind, (await feed_at(env, mine)).url) == ("not_a_feed", mine.url)
    assert len(await keys_in(env.blobs)) == 1
    assert not env.web.seen("/rss.xml")


async def test_a_page_never_leads_to_a_feed_with_a_login(env: RefreshEnvironment, alice: User) -> None:
    members = await env.add("/feed", answer(item("for members")))
    await env.change(members, http_options=encrypted(LOGIN).value)
    mine = await subscribe_to_slow(env, alice, PAGE)

    decision = await env.refresh(await feed_at(env, mine))

    assert isinstance(decision, Failed)
    assert (await feed_at(env, mine)).merged_into is None


@pytest.mark.parametrize("values", [{"declared": 1}, {"http_options": encrypted(LOGIN).value}])
async def test_a_declared_feed_and_one_with_a_login_stay_at_their_url(
    env: RefreshEnvironment, values: dict[str, object]
) -> None:
    env.web.serve("/feed", answer(item("a")))
    feed = await env.add("/", PAGE)
    await env.change(feed, **values)

    decision = await env.refresh(await env.feed(feed))

    assert isinstance(decision, Failed)
    assert [seen.path for seen in env.web.requests] == ["/"]


async def test_a_feed_that_becomes_a_page_stays_at_its_url(env: RefreshEnvironment) -> None:
    env.web.serve("/feed", answer(item("other")))
    feed = await env.add("/", answer(item("a")))
    await env.refresh(feed)

    decision = await env.later(HOUR, feed, PAGE, "/")

    assert isinstance(decision, Failed)
    assert [row["url"] for row in await env.rows(feeds)] == [feed.url]
    assert await env.titles() == ["a"]


async def test_the_feed_of_a_page_is_not_waited_for_longer_than_a_refresh_may_take(
    env: RefreshEnvironment, alice: User
) -> None:
    never = SlowSite(env, answer(item("a")), "/feed")
    mine = await subscribe_to_slow(env, alice, PAGE)
    env.soft_limit = timedelta(seconds=0.5)
    env.build_tools()

    decision = await env.refresh(await feed_at(env, mine))

    assert isinstance(decision, Failed)
    assert not never.may_answer.is_set()
