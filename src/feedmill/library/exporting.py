"""A person's subscriptions as a list that other readers understand."""

from collections.abc import Collection, Iterable
from datetime import datetime

from feedmill.library.folders import find_folder, inside, paths_of
from feedmill.library.opml import OpmlFeed, write_opml
from feedmill.model.subscription import Folder, Subscription
from feedmill.store.database import Database
from feedmill.store.folders import folders_of
from feedmill.store.subscriptions import subscriptions_of


async def export(db: Database, user_id: int, folder_id: int | None, now: datetime) -> bytes:
    """All subscriptions with their folders, or those in one folder and what is inside it; never a password."""
    if folder_id is not None:
        await find_folder(db, user_id, folder_id)
    folders = await folders_of(db, user_id)
    shown = None if folder_id is None else inside(folders, folder_id)
    return _written(await subscriptions_of(db, user_id), folders, shown, now)


async def export_some(db: Database, user_id: int, subscription_ids: Collection[int], now: datetime) -> bytes:
    """Those of the user's subscriptions that are named, with their folders."""
    chosen = [each for each in await subscriptions_of(db, user_id) if each.id in subscription_ids]
    return _written(chosen, await folders_of(db, user_id), None, now)


def _written(
    subscriptions: Iterable[Subscription], folders: Collection[Folder], shown: set[int] | None, now: datetime
) -> bytes:
    """These subscriptions in each of their folders, or in those of them that are `shown`."""
    paths = paths_of(folders)
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
