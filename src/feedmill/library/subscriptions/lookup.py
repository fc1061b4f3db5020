"""Looks up a user's subscriptions; `NotFound` for those of others."""

from collections.abc import Sequence

from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.feeds.private_feeds import find_feed_targets
from feedmill.library.subscriptions.folders import find_folder, folder_and_descendants
from feedmill.model.feed import Feed
from feedmill.model.subscription import SidebarFeed, Subscription
from feedmill.store.database import Database
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.subscriptions.folders import folders_of
from feedmill.store.subscriptions.read_subscriptions import (
    SubscriptionTotals,
    count_subscriptions,
    feed_urls_of,
    subscription_ids_by_feed,
    subscription_of,
    subscription_totals,
    subscriptions_of,
)
from feedmill.store.subscriptions.sidebar_feeds import feeds_by_folder, sidebar_feeds


async def subscriptions_of_user(db: Database, user_id: int) -> list[Subscription]:
    """All of the user's subscriptions, the oldest first."""
    return await subscriptions_of(db, user_id)


async def feed_urls_of_user(db: Database, user_id: int) -> list[str]:
    """The URLs of the user's feeds, without everything else that their subscriptions have."""
    return await feed_urls_of(db, user_id)


async def totals_of_user(db: Database, user_id: int) -> SubscriptionTotals:
    """How many entries all feeds of the user have, and when one of them was last fetched."""
    return await subscription_totals(db, user_id)


async def sidebar_feeds_of_user(db: Database, user_id: int) -> tuple[list[SidebarFeed], dict[int, list[int]]]:
    """The user's feeds by title, and the ids of those in each folder."""
    return await sidebar_feeds(db, user_id), await feeds_by_folder(db, user_id)


async def has_subscriptions(db: Database, user_id: int) -> bool:
    """Whether the user subscribes to any feed."""
    return await count_subscriptions(db, user_id) > 0


async def find_subscription(db: Database, user_id: int, subscription_id: int) -> Subscription:
    """The user's subscription; `NotFound`, also for a subscription of another user."""
    found = await subscription_of(db, user_id, subscription_id)
    if found is None:
        raise NotFound(Message("error.no_such_subscription"))
    return found


async def find_subscription_of_feed(db: Database, user_id: int, feed_id: int) -> Subscription:
    """The user's subscription to a feed; `NotFound` if the user has none."""
    ids = await subscription_ids_by_feed(db, user_id, [feed_id])
    if not ids:
        raise NotFound(Message("error.no_such_feed"))
    return await find_subscription(db, user_id, ids[feed_id])


async def subscription_ids_by_url(
    db: Database, user_id: int, urls: Sequence[str], *, has_login: bool
) -> dict[str, int]:
    """By URL the user's subscription to the feed there; URLs without one are left out."""
    targets = await find_feed_targets(db, user_id, dict.fromkeys(urls, has_login))
    feed_ids = [target.feed_id for target in targets.values() if target.feed_id]
    ids = await subscription_ids_by_feed(db, user_id, feed_ids)
    return {url: ids[target.feed_id] for url, target in targets.items() if target.feed_id in ids}


async def feed_of_subscription(db: Database, subscription: Subscription) -> Feed:
    """The feed itself, with what its subscribers share."""
    [feed] = await feeds_of_ids(db, [subscription.feed_id])
    return feed


async def subscriptions_in_folder(db: Database, user_id: int, folder_id: int | None) -> list[Subscription]:
    """The user's subscriptions: all, or those of a folder and its subfolders."""
    subscriptions = await subscriptions_of(db, user_id)
    if folder_id is None:
        return subscriptions
    await find_folder(db, user_id, folder_id)
    within = folder_and_descendants(await folders_of(db, user_id), folder_id)
    return [subscription for subscription in subscriptions if within.intersection(subscription.folder_ids)]
