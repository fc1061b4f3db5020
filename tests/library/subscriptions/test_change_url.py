"""Giving a subscription another URL."""

import msgspec
import pytest

from feedmill.errors import NotFound
from feedmill.library.subscriptions.change_url import change_subscription_url
from feedmill.library.subscriptions.errors import AlreadySubscribed
from feedmill.model.user import User
from tests.flows.refresh_environment import RefreshEnvironment, answer, decrypted, item
from tests.library.subscribers import Subscribers

LOGIN = msgspec.json.encode({"basic_auth": ("alice", "secret")}).decode()


@pytest.fixture
def urls(env: RefreshEnvironment) -> tuple[str, str]:
    return (
        env.web.serve("/old", answer(item("a"), item("b"), title="Old")),
        env.web.serve("/new", answer(item("c"), title="New")),
    )


async def test_the_subscription_stays_and_points_to_the_new_feed(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, urls: tuple[str, str]
) -> None:
    mine = (await subscribers.subscribe(alice, urls[0], title="Hers")).subscription

    moved = await change_subscription_url(env.tools, alice.id, mine.id, urls[1])

    assert (moved.id, moved.url, moved.own_title, moved.unread_count) == (mine.id, urls[1], "Hers", 0)
    assert moved.next_fetch_at is not None
    assert (await subscribers.feed(mine)).next_fetch_at is None


async def test_an_existing_feed_brings_its_newest_entries(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, bob: User, urls: tuple[str, str]
) -> None:
    mine = (await subscribers.subscribe(alice, urls[0])).subscription
    await subscribers.subscribe(bob, urls[1])

    moved = await change_subscription_url(env.tools, alice.id, mine.id, urls[1])

    assert (moved.title, moved.unread_count, await subscribers.unread(alice)) == ("New", 1, 1)


async def test_a_url_that_the_user_already_subscribes_to_is_named(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, urls: tuple[str, str]
) -> None:
    first, second = [(await subscribers.subscribe(alice, url)).subscription for url in urls]

    with pytest.raises(AlreadySubscribed) as refused:
        await change_subscription_url(env.tools, alice.id, first.id, urls[1])

    assert refused.value.more == {"subscription_id": second.id}
    assert await change_subscription_url(env.tools, alice.id, first.id, urls[0]) == first


async def test_a_password_is_kept_only_for_the_same_host(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User
) -> None:
    at_home = env.web.serve("/old", answer(item("a")))
    mine = (await subscribers.subscribe(alice, at_home, http_options=LOGIN)).subscription

    same_host = await change_subscription_url(env.tools, alice.id, mine.id, env.web.url("/new"))
    assert decrypted(await subscribers.feed(same_host)) == LOGIN
    elsewhere = await change_subscription_url(env.tools, alice.id, mine.id, env.web.url("/new", "127.0.0.2"))

    assert (elsewhere.is_private, (await subscribers.feed(elsewhere)).http_options) == (False, None)


async def test_a_user_cannot_move_another_users_subscription(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, bob: User, urls: tuple[str, str]
) -> None:
    mine = (await subscribers.subscribe(alice, urls[0])).subscription

    with pytest.raises(NotFound):
        await change_subscription_url(env.tools, bob.id, mine.id, urls[1])
