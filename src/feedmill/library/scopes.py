"""What a reader's filters stand for. What is not theirs sounds like what is not there."""

from feedmill.errors import BadInput, NotFound
from feedmill.model.reading import Scope
from feedmill.store.database import Database
from feedmill.store.labels import has_labels
from feedmill.store.scopes import has_subscription, subscriptions_below


async def find_scope(
    db: Database, user_id: int, subscription_id: int | None, folder_id: int | None, label_id: int | None
) -> Scope:
    """The entries of a subscription or of a folder, and of a label if one is named; each may be left out."""
    if label_id is not None and not await has_labels(db, user_id, [label_id]):
        raise NotFound("there is no such label")
    return Scope(await _subscriptions(db, user_id, subscription_id, folder_id), label_id)


async def _subscriptions(
    db: Database, user_id: int, subscription_id: int | None, folder_id: int | None
) -> tuple[int, ...] | None:
    if subscription_id is not None and folder_id is not None:
        raise BadInput("name a feed or a folder, not both", "folder_id")
    if folder_id is not None:
        below = await subscriptions_below(db, user_id, folder_id)
        if below is None:
            raise NotFound("there is no such folder")
        return below
    if subscription_id is None:
        return None
    if not await has_subscription(db, user_id, subscription_id):
        raise NotFound("there is no such feed")
    return (subscription_id,)
