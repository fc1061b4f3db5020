"""Resolves a subscription, folder or label to the entries that a list covers, if they are the user's."""

from feedmill.errors import BadInput, NotFound
from feedmill.i18n.messages import Message
from feedmill.model.entry_lists import EntryScope
from feedmill.store.database import Database
from feedmill.store.entries.labels import has_labels
from feedmill.store.subscriptions.folders import subscriptions_in_folder
from feedmill.store.subscriptions.read_subscriptions import has_subscription


async def find_scope(
    db: Database, user_id: int, subscription_id: int | None, folder_id: int | None, label_id: int | None
) -> EntryScope:
    """The scope of a subscription or a folder, limited to a label if given; `NotFound` for those of other users."""
    if label_id is not None and not await has_labels(db, user_id, [label_id]):
        raise NotFound(Message("error.no_such_label"))
    return EntryScope(await _subscriptions(db, user_id, subscription_id, folder_id), label_id)


async def _subscriptions(
    db: Database, user_id: int, subscription_id: int | None, folder_id: int | None
) -> tuple[int, ...] | None:
    if subscription_id is not None and folder_id is not None:
        raise BadInput(Message("error.feed_or_folder"), "folder_id")
    if folder_id is not None:
        below = await subscriptions_in_folder(db, user_id, folder_id)
        if below is None:
            raise NotFound(Message("error.no_such_folder"))
        return below
    if subscription_id is None:
        return None
    if not await has_subscription(db, user_id, subscription_id):
        raise NotFound(Message("error.no_such_feed"))
    return (subscription_id,)
