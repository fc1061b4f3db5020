"""Users find their own subscriptions only."""

import pytest

from feedmill.errors import NotFound
from feedmill.library.subscriptions.lookup import (
    feed_of_subscription,
    find_subscription,
    find_subscription_of_feed,
    has_subscriptions,
    subscription_ids_by_url,
    subscriptions_of_user,
)
from feedmill.store.database import Database
from tests.library.small_library import SmallLibrary


async def test_a_subscription_is_found_by_its_feed_for_its_owner_only(db: Database) -> None:
    library = SmallLibrary(db)
    alice, bob, charlie = [await library.person(name) for name in ("alice", "bob", "charlie")]
    feed = await library.feed()
    hers, his = await library.subscribe(alice, feed), await library.subscribe(bob, feed)

    found = [await find_subscription_of_feed(db, user.id, feed) for user in (alice, bob)]

    assert [each.id for each in found] == [hers, his]
    assert (await feed_of_subscription(db, found[0])).id == feed
    for refused in (find_subscription_of_feed(db, charlie.id, feed), find_subscription(db, charlie.id, hers)):
        with pytest.raises(NotFound):
            await refused


async def test_lists_and_urls_name_only_the_users_own_subscriptions(db: Database) -> None:
    library = SmallLibrary(db)
    alice, charlie = await library.person("alice"), await library.person("charlie")
    feed = await library.feed()
    hers = await library.subscribe(alice, feed)
    [subscription] = await subscriptions_of_user(db, alice.id)
    urls = [subscription.url, "https://nowhere.example.org/"]

    by_url = [await subscription_ids_by_url(db, user.id, urls, has_login=False) for user in (alice, charlie)]

    assert by_url == [{subscription.url: hers}, {}]
    assert (await has_subscriptions(db, alice.id), await has_subscriptions(db, charlie.id)) == (True, False)
    assert await subscriptions_of_user(db, charlie.id) == []
