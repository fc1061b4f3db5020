"""Moves a user's subscription to the feed at another URL."""

from feedmill.collect.refresh import RefreshTools
from feedmill.library.feeds.private_feeds import find_feed_target
from feedmill.library.subscriptions.errors import AlreadySubscribed
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.model.encrypted import Encrypted
from feedmill.model.subscription import Subscription
from feedmill.outbound.encrypted_options import encrypt_options
from feedmill.outbound.urls import may_share_secrets
from feedmill.outbound.user_urls import parse_user_url
from feedmill.store.feeds.add_feeds import NewFeed
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.subscriptions.move_subscription import move_subscription
from feedmill.store.subscriptions.read_subscriptions import subscription_ids_by_feed


async def change_subscription_url(tools: RefreshTools, user_id: int, subscription_id: int, url: str) -> Subscription:
    """Moves the subscription to the feed at `url`; the caller has checked that there is a feed."""
    subscription = await find_subscription(tools.db, user_id, subscription_id)
    address = parse_user_url(url)
    options = encrypt_options(tools.encryption, address.http_options)
    options = options or await _options_for(tools, subscription, address.url)
    target = await find_feed_target(tools.db, user_id, address.url, has_login=options is not None)
    if target.feed_id == subscription.feed_id:
        return subscription
    if target.feed_id and (subscribed := await subscription_ids_by_feed(tools.db, user_id, [target.feed_id])):
        raise AlreadySubscribed(subscribed[target.feed_id])
    new = NewFeed(target.url, subscription.feed_title, for_subscribers=True, http_options=options)
    await move_subscription(tools.db, user_id, subscription, new, tools.clock(), target.feed_id)
    return await find_subscription(tools.db, user_id, subscription_id)


async def _options_for(tools: RefreshTools, subscription: Subscription, url: str) -> Encrypted | None:
    """The HTTP options of a private feed, if they may be sent to the new URL: a password is for one server."""
    if not subscription.is_private or not may_share_secrets(subscription.url, url):
        return None
    [feed] = await feeds_of_ids(tools.db, [subscription.feed_id])
    return feed.http_options
