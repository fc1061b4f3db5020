"""From a pasted URL to a subscription, its entries and its errors."""

import asyncio
from base64 import b64encode

import msgspec
import pytest

from feedmill.collect.discovery.request_log import DiscoveryStep
from feedmill.collect.first_fetch import HEAD_START
from feedmill.errors import CallerError
from feedmill.library.subscriptions.errors import AlreadySubscribed, NotSubscribable, QuotaReached, SeveralFeeds
from feedmill.library.subscriptions.subscribe import SubscribeRequest, discover, subscribe_to_candidate
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds
from feedmill.store.feeds.claims import claim_due_feeds
from feedmill.store.schema import entries, feeds, states, subscriptions
from tests.flows.refresh_environment import DAY, HOUR, NOW, RefreshEnvironment, answer, encrypted, item
from tests.library.subscribers import Subscribers
from tests.scripted_web import Answer, ReceivedRequest
from tests.serve.rest.sample_feeds import page_with

LOGIN = msgspec.json.encode({"basic_auth": ("alice", "secret")}).decode()
BASIC = f"Basic {b64encode(b'alice:secret').decode()}"


def for_alice_alone(seen: ReceivedRequest) -> Answer:
    if seen.headers.get("authorization") == BASIC:
        return answer(item("for Alice's eyes"), title="Members")
    return answer(item("for everybody"), title="Open")


async def test_subscribing_sends_one_request_and_the_entries_are_unread(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    url = env.web.serve("/feed", answer(item("a"), item("b"), title="News"))

    done = await subscribers.subscribe(alice, url)

    mine = done.subscription
    assert (done.is_fetched, mine.title, mine.state, mine.unread_count) == (True, "News", "healthy", 2)
    assert await subscribers.unread(alice) == 2
    assert len(env.web.requests) == 1


async def test_the_only_feed_of_a_page_is_subscribed_to(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    env.web.serve("/feed", answer(item("a")))
    page = env.web.serve("/", page_with("/feed"))

    done = await subscribers.subscribe(alice, page)

    assert done.subscription.url == env.web.url("/feed", "127.0.0.1")
    assert [seen.path for seen in env.web.requests] == ["/", "/feed"]


async def test_discovering_and_then_subscribing_requests_each_feed_once(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    env.web.serve("/one", answer(item("a", date=NOW - DAY), item("b", date=NOW - HOUR), title="One"))
    env.web.serve("/two", answer(title="Two"))
    page = env.web.serve("/", page_with("/one", "/two"))

    found = await discover(env.tools, alice, page, subscribers.answers)
    done = await subscribers.subscribe(alice, found.candidates[0].url)

    assert [(each.title, each.items) for each in found.candidates] == [("One", 2), ("Two", 0)]
    assert (found.candidates[0].last_entry_at, found.candidates[0].type) == (NOW - HOUR, "rss20")
    assert [str(each.answer).partition(",")[0] for each in found.tried] == ["HTTP 200"] * 3
    assert done.subscription.unread_count == 2
    assert sorted(seen.path for seen in env.web.requests) == ["/", "/one", "/two"]


async def test_a_cached_response_of_one_user_is_not_used_for_another(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, bob: User
) -> None:
    url = env.web.serve("/feed", answer(item("a")))
    await discover(env.tools, alice, url, subscribers.answers)

    await subscribers.subscribe(bob, url)

    assert len(env.web.requests) == 2


async def test_a_page_with_several_feeds_offers_a_choice(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    page = env.web.serve("/", page_with("/one", "/two"))

    with pytest.raises(SeveralFeeds) as raised:
        await subscribers.subscribe(alice, page)

    assert [each["url"].rpartition("/")[2] for each in raised.value.more["candidates"]] == ["one", "two"]
    assert await subscribers.mine(alice) == []


@pytest.mark.parametrize(
    ("served", "code", "reason"),
    [
        (Answer(status=404), "unreachable", "http"),
        (Answer(status=410), "unreachable", "http"),
        (Answer(status=500), "unreachable", "http_5xx"),
        (Answer(status=429), "unreachable", "busy"),
        (b"", "unreachable", "reset"),
        (Answer(b"<html>hello</html>", headers={"Content-Type": "text/html"}), "not_a_feed", "not_a_feed"),
        (Answer(b"x" * 16_000_000), "too_large", "too_large"),
    ],
)
async def test_each_failure_has_its_code(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, served: Answer, code: str, reason: str
) -> None:
    url = env.web.serve("/feed", served)

    with pytest.raises(NotSubscribable) as raised:
        await subscribers.subscribe(alice, url)

    assert (raised.value.code, raised.value.more["reason"]) == (code, reason)
    assert raised.value.more["tried"][0]["url"] == url
    assert await subscribers.mine(alice) == []
    assert await env.rows(feeds) == []


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://10.0.0.1/feed", "refused_address"),
        ("http://169.254.169.254/latest", "refused_address"),
        ("http://nowhere.example/feed", "unreachable"),
        ("ftp://example.org/", "bad_address"),
        ("http://", "bad_address"),
    ],
)
async def test_invalid_urls_are_distinguished(subscribers: Subscribers, alice: User, url: str, code: str) -> None:
    with pytest.raises(NotSubscribable) as raised:
        await subscribers.subscribe(alice, url)

    assert raised.value.code == code


async def test_a_feed_that_is_down_can_be_added_anyway_and_is_due_at_once(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    url = env.web.serve("/feed", Answer(status=502))

    done = await subscribers.subscribe(alice, url, anyway=True)

    assert (done.is_fetched, done.subscription.state) == (False, "queued")
    assert [claim.feed.id for claim in await claim_due_feeds(env.db, env.now, 10)] == [done.subscription.feed_id]


async def test_a_forbidden_url_is_not_added_anyway(subscribers: Subscribers, alice: User) -> None:
    with pytest.raises(NotSubscribable):
        await subscribers.subscribe(alice, "http://10.0.0.1/feed", anyway=True)


async def test_a_second_subscriber_shares_the_feed_and_has_its_newest_entries_unread(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, bob: User
) -> None:
    url = env.web.serve("/feed", answer(*(item(str(n), date=NOW - n * HOUR) for n in range(60))))
    await subscribers.subscribe(alice, url)
    [read] = await env.rows(entries, guid="guid-0")
    await env.put(states, user_id=bob.id, entry_id=read["id"], read_at=to_iso(NOW))

    done = await subscribers.subscribe(bob, url)

    assert len(env.web.requests) == 1
    assert (done.is_fetched, done.subscription.unread_count, await subscribers.unread(bob)) == (True, 49, 49)
    assert [await subscribers.unread(alice), len(await env.rows(feeds))] == [60, 1]


async def test_a_second_subscription_to_the_same_feed_names_the_first(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    url = env.web.serve("/feed", answer(item("a")))
    done = await subscribers.subscribe(alice, url)

    with pytest.raises(AlreadySubscribed) as raised:
        await subscribers.subscribe(alice, url)

    assert raised.value.more == {"subscription_id": done.subscription.id}


async def test_two_clicks_at_once_create_one_subscription(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    url = env.web.serve("/feed", answer(item("a"), item("b")))

    done = await asyncio.gather(*(subscribers.subscribe(alice, url) for _ in range(2)), return_exceptions=True)

    assert all(not isinstance(each, BaseException) or isinstance(each, CallerError) for each in done)
    assert len(await env.rows(subscriptions)) == 1
    assert [mine.unread_count for mine in await subscribers.mine(alice)] == [await subscribers.unread(alice)] == [2]


async def test_a_user_cannot_exceed_their_quota_of_feeds(env: RefreshEnvironment, subscribers: Subscribers) -> None:
    charlie = await subscribers.person("charlie", quota_feeds=1)
    await subscribers.subscribe(charlie, env.web.serve("/1", answer()))

    with pytest.raises(QuotaReached):
        await subscribers.subscribe(charlie, env.web.serve("/2", answer()))
    with pytest.raises(AlreadySubscribed):
        await subscribers.subscribe(charlie, env.web.url("/1", "127.0.0.1"))


async def test_a_crash_before_the_first_fetch_leaves_a_feed_that_is_due(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = env.web.serve("/feed", answer(item("a")))

    async def crash(*given: object) -> None:
        raise SystemExit

    monkeypatch.setattr("feedmill.library.subscriptions.subscribe.refresh_with_fetched", crash)
    with pytest.raises(SystemExit):
        await subscribers.subscribe(alice, url)

    [mine] = await subscribers.mine(alice)
    assert await claim_due_feeds(env.db, env.now, 10) == []
    assert [claim.feed.id for claim in await claim_due_feeds(env.db, env.now + HEAD_START, 10)] == [mine.feed_id]


# --- feeds that need a login ------------------------------------------------------------------------------


async def test_content_behind_one_users_login_is_not_shown_to_others(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, bob: User
) -> None:
    url = env.web.serve("/feed", for_alice_alone)
    hers = (await subscribers.subscribe(alice, url, http_options=LOGIN)).subscription

    his = (await subscribers.subscribe(bob, url)).subscription

    assert (hers.url, hers.is_private, hers.title) == (url, True, "Members")
    assert (his.url, his.is_private, his.title) == (url, False, "Open")
    await subscribers.refresh(his)
    assert [row["feed_id"] for row in await env.rows(entries, title="for Alice's eyes")] == [hers.feed_id]
    assert [await subscribers.unread(alice), await subscribers.unread(bob)] == [1, 1]


async def test_a_login_in_the_url_is_private_too(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, bob: User
) -> None:
    url = env.web.serve("/feed", for_alice_alone)
    hers = (await subscribers.subscribe(alice, url.replace("://", "://alice:secret@"))).subscription

    his = (await subscribers.subscribe(bob, url)).subscription

    assert (hers.url, hers.title, hers.is_private, his.title) == (url, "Members", True, "Open")


async def test_a_response_to_a_login_is_not_the_first_fetch_of_a_shared_feed(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    url = env.web.serve("/feed", for_alice_alone)
    await discover(env.tools, alice, url.replace("://", "://alice:secret@"), subscribers.answers)

    shared = (await subscribers.subscribe(alice, url)).subscription

    assert (shared.is_private, shared.title) == (False, "Open")


async def test_a_feed_with_the_operators_login_is_not_shared(
    env: RefreshEnvironment, subscribers: Subscribers, bob: User
) -> None:
    url = env.web.serve("/feed", for_alice_alone)
    await add_feeds(env.db, [NewFeed(url, http_options=encrypted(LOGIN))], NOW, NOW)

    his = (await subscribers.subscribe(bob, url)).subscription

    assert (his.is_private, his.title) == (True, "Open")
    assert len(await env.rows(feeds)) == 2


async def test_a_private_feed_does_not_follow_permanent_redirects(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    url = env.web.serve("/feed", for_alice_alone)
    hers = (await subscribers.subscribe(alice, url, http_options=LOGIN)).subscription
    new_home = env.web.serve("/new", answer(item("for everybody")))
    env.web.serve("/feed", Answer(status=301, headers={"Location": new_home}))

    for _ in range(4):
        await subscribers.refresh(hers)

    [now] = await subscribers.mine(alice)
    assert (now.feed_id, now.url, now.state) == (hers.feed_id, url, "healthy")


async def test_a_shared_feed_is_not_merged_with_a_private_one(
    env: RefreshEnvironment, subscribers: Subscribers, bob: User
) -> None:
    locked = env.web.serve("/locked", for_alice_alone)
    await add_feeds(env.db, [NewFeed(locked, http_options=encrypted(LOGIN))], NOW, NOW)
    his = (await subscribers.subscribe(bob, env.web.serve("/open", answer(item("a"))))).subscription
    env.web.serve("/open", Answer(status=301, headers={"Location": locked}))

    for _ in range(4):
        await subscribers.refresh(his)

    [now] = await subscribers.mine(bob)
    assert (now.feed_id, now.url) == (his.feed_id, his.url)


async def test_a_discovered_feed_is_subscribed_to_without_another_request(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    url = env.web.serve("/feed", answer(item("a"), title="News"))
    await discover(env.tools, alice, url, subscribers.answers)

    remembered = await subscribe_to_candidate(env.tools, alice, SubscribeRequest(url), subscribers.answers)
    forgotten = await subscribe_to_candidate(env.tools, alice, SubscribeRequest(f"{url}?other"), subscribers.answers)

    assert (remembered.is_fetched, remembered.subscription.unread_count) == (True, 1)
    assert (forgotten.is_fetched, forgotten.subscription.state) == (False, "queued")
    assert len(env.web.requests) == 1


async def test_each_step_of_the_discovery_is_reported_at_its_start_and_end(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    feed = env.web.serve("/feed", answer(item("a")))
    page = env.web.serve("/", page_with("/feed"))
    told: list[DiscoveryStep] = []

    await discover(env.tools, alice, page, subscribers.answers, on_step=told.append)

    assert [(step.url, bool(step.answer)) for step in told] == [
        (page, False),
        (page, True),
        (feed, False),
        (feed, True),
    ]


async def test_a_discovery_with_a_login_is_not_cached(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    url = env.web.serve("/feed", for_alice_alone)

    found = await discover(env.tools, alice, url, subscribers.answers, http_options=LOGIN)

    assert [each.title for each in found.candidates] == ["Members"]
    assert subscribers.answers.take(alice.id, url) is None
