"""Which subscriptions a folder, or a single subscription, stands for."""

from sqlalchemy import bindparam, select

from feedmill.store.database import Database
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import folder_subscriptions, folders, subscriptions

OWN = select(subscriptions.c.id).where(
    subscriptions.c.user_id == bindparam("of_user"), subscriptions.c.id == bindparam("subscription_id")
)
FOLDERS = select(folders.c.id, folders.c.parent_id).where(folders.c.user_id == bindparam("of_user"))
FILED = (
    select(folder_subscriptions.c.subscription_id).where(one_of(folder_subscriptions.c.folder_id, "folders")).distinct()
)


async def has_subscription(db: Database, user_id: int, subscription_id: int) -> bool:
    return bool(await db.query(OWN, {"of_user": user_id, "subscription_id": subscription_id}))


async def subscriptions_below(db: Database, user_id: int, folder_id: int) -> tuple[int, ...] | None:
    """The subscriptions in a folder and in those below it; None when the user has no such folder."""
    parents = {row["id"]: row["parent_id"] for row in await db.query(FOLDERS, {"of_user": user_id})}
    if folder_id not in parents:
        return None
    filed = await db.query(FILED, {"folders": as_list(_below(folder_id, parents))})
    return tuple(sorted(row["subscription_id"] for row in filed))


def _below(folder_id: int, parents: dict[int, int]) -> list[int]:
    found, added = {folder_id}, {folder_id}
    while added:
        added = {id for id, parent in parents.items() if parent in added} - found
        found |= added
    return sorted(found)
