"""Settings of subscribers that share a feed, and what happens when they unsubscribe."""

from datetime import timedelta

import msgspec
import pytest

from feedmill.errors import NotFound
from feedmill.library.subscriptions.change_subscription import change_login
from feedmill.model.feed import Feed
from feedmill.model.timestamps import to_iso
from feedmill.model.user import Actor, User
from feedmill.store.admin.users import delete_user
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds, mark_added_by_person
from feedmill.store.feeds.declared_feeds import DeclaredChanges, apply_declared_changes
from feedmill.store.feeds.record_refresh import ClaimLost, record_refresh
from feedmill.store.schema import entries, folder_subscriptions, folders, states, unread
from tests.flows.refresh_environment import (
    DAY,
    HOUR,
    MINUTE,
    NOW,
    RefreshEnvironment,
    answer,
    decrypted,
    encrypted,
    item,
)
from tests.library.subscribers import Subscribers
from tests.scripted_web import Answer

LOGIN = msgspec.json.encode({"basic_auth": ("alice", "secret")}).decode()


@pytest.fixture
def url(env: RefreshEnvironment) -> str:
    return env.web.serve("/feed", answer(item("a"), title="News"))


async def seconds(subscribers: Subscribers, feed: Feed) -> float | None:
    there = await subscribers.env.feed(feed)
    return there.interval.total_seconds() if there.interval else None


# --- settings ---------------------------------------------------------------------------------------------


async def test_the_smallest_interval_of_all_subscribers_counts(
    subscribers: Subscribers, alice: User, bob: User, url: str
) -> None:
    hers = (await subscribers.subscribe(alice, url, interval_seconds=7200)).subscription
    his = (await subscribers.subscribe(bob, url, interval_seconds=3600)).subscription
    feed = await subscribers.feed(hers)

    assert await seconds(subscribers, feed) == 3600
    await subscribers.change(bob, his, interval_seconds=86_400)
    assert await seconds(subscribers, feed) == 7200
    await subscribers.change(alice, hers, interval_seconds=None)
    assert await seconds(subscribers, feed) == 86_400
    await subscribers.leave(bob, his)
    assert await seconds(subscribers, feed) is None


async def test_a_new_interval_counts_from_the_last_fetch(subscribers: Subscribers, alice: User, url: str) -> None:
    mine = (await subscribers.subscribe(alice, url, interval_seconds=604_800)).subscription
    subscribers.env.now = NOW + HOUR

    quicker = await subscribers.change(alice, mine, interval_seconds=7200)
    at_once = await subscribers.change(alice, mine, interval_seconds=1800)

    assert quicker.next_fetch_at == to_iso(NOW + 2 * HOUR)
    assert str(quicker.next_fetch_why) == "every 2 h, as a subscriber set it"
    assert at_once.next_fetch_at == to_iso(NOW + HOUR)


async def test_the_interval_of_a_new_subscriber_counts_at_once(
    subscribers: Subscribers, alice: User, bob: User, url: str
) -> None:
    await subscribers.subscribe(alice, url, interval_seconds=604_800)

    his = (await subscribers.subscribe(bob, url, interval_seconds=3600)).subscription

    assert his.next_fetch_at == to_iso(NOW + HOUR)


async def test_an_interval_does_not_speed_up_a_feed_that_is_backed_off(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, url: str
) -> None:
    mine = (await subscribers.subscribe(alice, url)).subscription
    env.web.serve("/feed", Answer(status=404))
    await subscribers.refresh(mine)
    [before] = await subscribers.mine(alice)

    after = await subscribers.change(alice, mine, interval_seconds=60)

    assert (after.state, after.next_fetch_at) == ("failing", before.next_fetch_at)


async def test_declared_settings_are_not_changed_by_subscribers(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, url: str
) -> None:
    hour = NewFeed(url, declared=True, interval=HOUR)
    await add_feeds(env.db, [hour], NOW, NOW)
    mine = (await subscribers.subscribe(alice, url)).subscription

    await subscribers.change(alice, mine, interval_seconds=60, archive_policy="none")

    feed = await subscribers.feed(mine)
    assert (feed.interval, feed.archive_policy) == (HOUR, "all")


async def test_an_interval_given_by_command_is_used_until_a_subscriber_sets_one(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, url: str
) -> None:
    await add_feeds(env.db, [NewFeed(url, interval=2 * HOUR)], NOW, NOW)
    mine = (await subscribers.subscribe(alice, url, title="Mine")).subscription

    await subscribers.change(alice, mine, title="Other")
    assert (await subscribers.feed(mine)).interval == 2 * HOUR
    await subscribers.change(alice, mine, interval_seconds=3600)
    assert (await subscribers.feed(mine)).interval == HOUR


async def test_the_most_generous_image_policy_of_all_subscribers_counts(
    subscribers: Subscribers, alice: User, bob: User, url: str
) -> None:
    hers = (await subscribers.subscribe(alice, url, archive_policy="none")).subscription
    his = (await subscribers.subscribe(bob, url, archive_policy="starred")).subscription

    assert (await subscribers.feed(hers)).archive_policy == "starred"
    await subscribers.change(bob, his, archive_policy=None)
    assert (await subscribers.feed(hers)).archive_policy == "all"
    await subscribers.leave(bob, his)
    assert (await subscribers.feed(hers)).archive_policy == "none"


async def test_a_title_is_for_one_user(subscribers: Subscribers, alice: User, bob: User, url: str) -> None:
    hers = (await subscribers.subscribe(alice, url)).subscription
    await subscribers.subscribe(bob, url)

    await subscribers.change(alice, hers, title="Hers")

    assert [each.title for each in [*await subscribers.mine(alice), *await subscribers.mine(bob)]] == ["Hers", "News"]


async def test_a_user_cannot_change_or_end_another_users_subscription(
    subscribers: Subscribers, alice: User, bob: User, url: str
) -> None:
    hers = (await subscribers.subscribe(alice, url)).subscription

    with pytest.raises(NotFound):
        await subscribers.change(bob, hers, paused=True)
    with pytest.raises(NotFound):
        await subscribers.leave(bob, hers)

    assert await subscribers.mine(alice) == [hers]


# --- pausing ----------------------------------------------------------------------------------------------


async def test_a_feed_that_all_subscribers_paused_rests_until_one_resumes_it(
    subscribers: Subscribers, alice: User, bob: User, url: str
) -> None:
    hers = (await subscribers.subscribe(alice, url)).subscription
    his = (await subscribers.subscribe(bob, url)).subscription

    await subscribers.change(alice, hers, paused=True)
    assert (await subscribers.feed(hers)).next_fetch_at is not None
    paused = await subscribers.change(bob, his, paused=True)
    assert (paused.state, paused.next_fetch_at) == ("paused", None)
    assert str(paused.next_fetch_why) == "at rest, because all its subscribers have paused it"
    resumed = await subscribers.change(bob, his, paused=False)
    assert (resumed.state, resumed.next_fetch_at) == ("healthy", to_iso(NOW))


async def test_a_paused_subscription_gets_nothing_new_while_others_do(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, bob: User, url: str
) -> None:
    hers = (await subscribers.subscribe(alice, url)).subscription
    await subscribers.subscribe(bob, url)
    await subscribers.change(alice, hers, paused=True)

    env.web.serve("/feed", answer(item("a"), item("b")))
    await subscribers.refresh(hers)

    assert [(await subscribers.mine(each))[0].unread_count for each in (alice, bob)] == [1, 2]
    assert [await subscribers.unread(alice), await subscribers.unread(bob)] == [1, 2]


async def test_a_running_refresh_does_not_wake_a_feed_that_was_put_to_rest(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, url: str
) -> None:
    hers = (await subscribers.subscribe(alice, url)).subscription
    claim = await env.claim(await subscribers.feed(hers))

    await subscribers.change(alice, hers, paused=True)

    with pytest.raises(ClaimLost):
        await record_refresh(env.db, claim, env.announced[-1][1])
    assert (await subscribers.feed(hers)).next_fetch_at is None


# --- unsubscribing ----------------------------------------------------------------------------------------


async def test_unsubscribing_takes_nothing_from_others_and_keeps_starred_entries(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, bob: User, url: str
) -> None:
    hers = (await subscribers.subscribe(alice, url)).subscription
    await subscribers.subscribe(bob, url)
    [entry] = await env.rows(entries)
    await env.put(states, user_id=alice.id, entry_id=entry["id"], starred_at=to_iso(NOW))

    await subscribers.leave(alice, hers)

    assert [await subscribers.mine(alice), await subscribers.unread(alice)] == [[], 0]
    assert [(await subscribers.mine(bob))[0].unread_count, await subscribers.unread(bob)] == [1, 1]
    assert [row["starred_at"] for row in await env.rows(states)] == [to_iso(NOW)]
    assert (await subscribers.feed(hers)).next_fetch_at is not None


async def test_a_feed_without_subscribers_rests_until_the_next_one(
    subscribers: Subscribers, alice: User, bob: User, url: str
) -> None:
    hers = (await subscribers.subscribe(alice, url)).subscription

    await subscribers.leave(alice, hers)

    feed = await subscribers.feed(hers)
    assert (feed.next_fetch_at, str(feed.next_fetch_why)) == (None, "at rest, because nobody subscribes to it any more")
    his = (await subscribers.subscribe(bob, url)).subscription
    assert (his.feed_id, his.next_fetch_at, his.unread_count) == (hers.feed_id, to_iso(NOW), 1)


async def test_a_feed_that_was_added_by_command_does_not_rest(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, url: str
) -> None:
    mine = (await subscribers.subscribe(alice, url)).subscription
    await mark_added_by_person(env.db, [mine.feed_id], NOW)

    await subscribers.leave(alice, mine)

    assert (await subscribers.feed(mine)).next_fetch_at is not None


async def test_a_feed_removed_from_the_file_stays_for_its_subscribers(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, url: str
) -> None:
    await add_feeds(env.db, [NewFeed(url, declared=True)], NOW, NOW)
    mine = (await subscribers.subscribe(alice, url)).subscription

    await apply_declared_changes(env.db, DeclaredChanges(dropped=(mine.feed_id,)), "feeds.yaml", NOW)

    assert (await subscribers.feed(mine)).next_fetch_at is not None
    await subscribers.leave(alice, mine)
    assert (await subscribers.feed(mine)).next_fetch_at is None


async def test_subscribing_again_does_not_make_read_entries_unread(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, url: str
) -> None:
    mine = (await subscribers.subscribe(alice, url)).subscription
    [entry] = await env.rows(entries)
    await env.put(states, user_id=alice.id, entry_id=entry["id"], read_at=to_iso(NOW))
    await subscribers.leave(alice, mine)

    again = (await subscribers.subscribe(alice, url)).subscription

    assert (again.unread_count, await subscribers.unread(alice)) == (0, 0)


async def test_a_feed_rests_when_its_last_subscriber_is_deleted_and_their_login_too(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, bob: User, url: str
) -> None:
    hers = (await subscribers.subscribe(alice, url, http_options=LOGIN)).subscription
    shared = (await subscribers.subscribe(alice, env.web.serve("/shared", answer()))).subscription
    await subscribers.subscribe(bob, shared.url)

    await delete_user(env.db, alice, Actor(bob.id, None), NOW)

    feed = await subscribers.feed(hers)
    assert (feed.next_fetch_at, feed.http_options) == (None, None)
    assert (await subscribers.feed(shared)).next_fetch_at is not None


# --- logins -----------------------------------------------------------------------------------------------


async def test_a_login_creates_a_private_feed_and_leaves_the_shared_one(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, bob: User, url: str
) -> None:
    hers = (await subscribers.subscribe(alice, url, title="Hers")).subscription
    his = (await subscribers.subscribe(bob, url)).subscription

    moved = await change_login(env.db, alice.id, hers.id, encrypted(LOGIN), NOW)

    assert (moved.id, moved.title, moved.url, moved.is_private) == (hers.id, "Hers", url, True)
    assert (moved.feed_id != hers.feed_id, moved.state, moved.unread_count) == (True, "queued", 0)
    assert await subscribers.unread(alice) == 0
    [there] = await subscribers.mine(bob)
    assert (there.feed_id, there.unread_count) == (his.feed_id, 1)
    assert (await subscribers.feed(there)).http_options is None
    await subscribers.refresh(moved)
    assert (await subscribers.mine(alice))[0].unread_count == 1


async def test_a_login_is_changed_in_place_and_deleted_when_its_owner_unsubscribes(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, url: str
) -> None:
    mine = (await subscribers.subscribe(alice, url, http_options=LOGIN)).subscription
    other = LOGIN.replace("secret", "other")

    changed = await change_login(env.db, alice.id, mine.id, encrypted(other), NOW)
    assert (changed.feed_id, decrypted(await subscribers.feed(mine))) == (mine.feed_id, other)

    await subscribers.leave(alice, mine)
    assert (await subscribers.feed(mine)).http_options is None


# --- on every database ------------------------------------------------------------------------------------


async def test_a_subscription_is_added_changed_and_ended_on_every_database(any_env: RefreshEnvironment) -> None:
    subscribers = Subscribers(any_env)
    alice, bob = await subscribers.person("alice"), await subscribers.person("bob")
    url = any_env.web.serve("/feed", answer(*(item(str(n), date=NOW - n * MINUTE) for n in range(55))))
    folder_id = await any_env.put(folders, user_id=bob.id, name="News")
    hers = (await subscribers.subscribe(alice, url)).subscription

    his = (await subscribers.subscribe(bob, url, folder_ids=(folder_id,), interval_seconds=3600)).subscription
    assert (his.unread_count, his.folder_ids, await subscribers.unread(bob)) == (50, (folder_id,), 50)
    assert (await subscribers.feed(his)).interval == timedelta(hours=1)
    moved = await change_login(any_env.db, bob.id, his.id, encrypted(LOGIN), NOW)
    assert (moved.is_private, moved.unread_count, moved.folder_ids) == (True, 0, (folder_id,))
    await subscribers.change(alice, hers, paused=True, archive_policy="starred", interval_seconds=DAY.seconds + 86_400)
    await subscribers.leave(bob, moved)
    await subscribers.leave(alice, hers)

    assert [await subscribers.mine(alice), await subscribers.mine(bob)] == [[], []]
    assert [await any_env.rows(unread), await any_env.rows(folder_subscriptions)] == [[], []]
    assert [(await subscribers.feed(each)).next_fetch_at for each in (hers, moved)] == [None, None]
