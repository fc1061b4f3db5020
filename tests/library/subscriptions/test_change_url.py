"""A subscription that is given another address."""

import msgspec
import pytest

from feedmill.errors import NotFound
from feedmill.library.subscriptions.change_url import change_subscription_url
from feedmill.library.subscriptions.errors import AlreadySubscribed
from feedmill.model.user import User
from tests.flows.world import World, answer, decrypted, item
from tests.library.readers import Readers

LOGIN = msgspec.json.encode({"basic_auth": ("alice", "secret")}).decode()


@pytest.fixture
def urls(world: World) -> tuple[str, str]:
    return (
        world.web.serve("/old", answer(item("a"), item("b"), title="Old")),
        world.web.serve("/new", answer(item("c"), title="New")),
    )


async def test_the_subscription_stays_and_points_to_the_new_feed(
    world: World, readers: Readers, alice: User, urls: tuple[str, str]
) -> None:
    mine = (await readers.subscribe(alice, urls[0], title="Hers")).subscription

    moved = await change_subscription_url(world.tools, alice.id, mine.id, urls[1])

    assert (moved.id, moved.url, moved.own_title, moved.unread_count) == (mine.id, urls[1], "Hers", 0)
    assert moved.next_fetch_at is not None
    assert (await readers.feed(mine)).next_fetch_at is None


async def test_a_feed_that_is_here_already_brings_its_newest_entries(
    world: World, readers: Readers, alice: User, bob: User, urls: tuple[str, str]
) -> None:
    mine = (await readers.subscribe(alice, urls[0])).subscription
    await readers.subscribe(bob, urls[1])

    moved = await change_subscription_url(world.tools, alice.id, mine.id, urls[1])

    assert (moved.title, moved.unread_count, await readers.unread(alice)) == ("New", 1, 1)


async def test_a_feed_that_the_person_has_is_named(
    world: World, readers: Readers, alice: User, urls: tuple[str, str]
) -> None:
    first, second = [(await readers.subscribe(alice, url)).subscription for url in urls]

    with pytest.raises(AlreadySubscribed) as refused:
        await change_subscription_url(world.tools, alice.id, first.id, urls[1])

    assert refused.value.more == {"subscription_id": second.id}
    assert await change_subscription_url(world.tools, alice.id, first.id, urls[0]) == first


async def test_a_password_goes_to_the_same_host_only(world: World, readers: Readers, alice: User) -> None:
    at_home = world.web.serve("/old", answer(item("a")))
    mine = (await readers.subscribe(alice, at_home, http_options=LOGIN)).subscription

    same_host = await change_subscription_url(world.tools, alice.id, mine.id, world.web.url("/new"))
    assert decrypted(await readers.feed(same_host)) == LOGIN
    elsewhere = await change_subscription_url(world.tools, alice.id, mine.id, world.web.url("/new", "127.0.0.2"))

    assert (elsewhere.is_private, (await readers.feed(elsewhere)).http_options) == (False, None)


async def test_nobody_moves_anothers_subscription(
    world: World, readers: Readers, alice: User, bob: User, urls: tuple[str, str]
) -> None:
    mine = (await readers.subscribe(alice, urls[0])).subscription

    with pytest.raises(NotFound):
        await change_subscription_url(world.tools, bob.id, mine.id, urls[1])
