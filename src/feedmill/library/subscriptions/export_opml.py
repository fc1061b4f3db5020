"""Exports a user's subscriptions as OPML."""

from collections.abc import Collection, Iterable
from datetime import datetime

from feedmill.library.subscriptions.folders import find_folder, folder_and_descendants, folder_paths
from feedmill.library.subscriptions.opml import OpmlFeed, write_opml
from feedmill.model.subscription import Folder, Subscription
from feedmill.store.database import Database
from feedmill.store.subscriptions.folders import folders_of
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of


async def export_opml(db: Database, user_id: int, folder_id: int | None, now: datetime) -> bytes:
    """All subscriptions with their folders, or those of one folder and its subfolders; never a password.

    Subscriptions to merged feeds are left out: the feed that each was merged into has its own.
    """
    if folder_id is not None:
        await find_folder(db, user_id, folder_id)
    folders = await folders_of(db, user_id)
    shown = None if folder_id is None else folder_and_descendants(folders, folder_id)
    followed = [each for each in await subscriptions_of(db, user_id) if each.state != "moved"]
    return _written(followed, folders, shown, now)


async def export_selected_opml(db: Database, user_id: int, subscription_ids: Collection[int], now: datetime) -> bytes:
    """The user's subscriptions with these ids, with their folders."""
    chosen = [each for each in await subscriptions_of(db, user_id) if each.id in subscription_ids]
    return _written(chosen, await folders_of(db, user_id), None, now)


def _written(
    subscriptions: Iterable[Subscription], folders: Collection[Folder], shown: set[int] | None, now: datetime
) -> bytes:
    """These subscriptions in each of their folders, or in those that are `shown`."""
    paths = folder_paths(folders)
    listed: list[OpmlFeed] = []
    for subscription in subscriptions:
        places = [each for each in subscription.folder_ids if shown is None or each in shown]
        listed += [_line(subscription, paths[each]) for each in places if each in paths]
        if shown is None and not subscription.folder_ids:
            listed.append(_line(subscription, ()))
    return write_opml(listed, title="Feedmill", created_at=now)


def _line(subscription: Subscription, folder: tuple[str, ...]) -> OpmlFeed:
    title = "" if subscription.title == subscription.url else subscription.title
    return OpmlFeed(subscription.url, title, subscription.site_url, folder)
