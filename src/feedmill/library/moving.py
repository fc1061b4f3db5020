"""A person gives one of their feeds another address: the subscription stays, and points to the feed there."""

from urllib.parse import urlsplit

from feedmill.collect.address import read_address
from feedmill.collect.refresh import Tools
from feedmill.library.privacy import place_of
from feedmill.library.subscriptions import find_subscription
from feedmill.library.unfit import AlreadySubscribed
from feedmill.model.subscription import Subscription
from feedmill.store.additions import NewFeed
from feedmill.store.feeds import feeds_of_ids
from feedmill.store.subscribing import move_subscription
from feedmill.store.subscriptions import subscribed_to


async def change_address(tools: Tools, user_id: int, subscription_id: int, url: str) -> Subscription:
    """Points the subscription to the feed at `url`, which somebody has looked at before."""
    subscription = await find_subscription(tools.db, user_id, subscription_id)
    address = read_address(url)
    options = address.http_options or await _options_for(tools, subscription, address.url)
    place = await place_of(tools.db, user_id, address.url, options)
    if place.feed_id == subscription.feed_id:
        return subscription
    if place.feed_id and (mine := await subscribed_to(tools.db, user_id, [place.feed_id])):
        raise AlreadySubscribed(mine[place.feed_id])
    new = NewFeed(place.url, subscription.feed_title, for_subscribers=True, http_options=options)
    await move_subscription(tools.db, user_id, subscription, new, tools.clock(), place.feed_id)
    return await find_subscription(tools.db, user_id, subscription_id)


async def _options_for(tools: Tools, subscription: Subscription, url: str) -> str | None:
    """How the feed was asked for, if it stays at its host: a password is not for others."""
    if not subscription.is_private or urlsplit(url).netloc != urlsplit(subscription.url).netloc:
        return None
    [feed] = await feeds_of_ids(tools.db, [subscription.feed_id])
    return feed.http_options
