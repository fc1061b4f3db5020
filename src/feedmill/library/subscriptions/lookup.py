"""Looks up a user's subscriptions; NotFound for those of others."""

from feedmill.errors import NotFound
from feedmill.library.subscriptions.folders import find_folder, folder_and_descendants
from feedmill.model.subscription import Subscription
from feedmill.store.database import Database
from feedmill.store.subscriptions.folders import folders_of
from feedmill.store.subscriptions.subscriptions import subscription_of, subscriptions_of


async def find_subscription(db: Database, user_id: int, subscription_id: int) -> Subscription:
    """The user's subscription, or `NotFound`, also for somebody else's."""
    found = await subscription_of(db, user_id, subscription_id)
    if found is None:
        raise NotFound("there is no such subscription")
    return found


async def subscriptions_in_folder(db: Database, user_id: int, folder_id: int | None) -> list[Subscription]:
    """The user's subscriptions: all, or those of a folder and of the folders in it."""
    mine = await subscriptions_of(db, user_id)
    if folder_id is None:
        return mine
    await find_folder(db, user_id, folder_id)
    within = folder_and_descendants(await folders_of(db, user_id), folder_id)
    return [subscription for subscription in mine if within.intersection(subscription.folder_ids)]
