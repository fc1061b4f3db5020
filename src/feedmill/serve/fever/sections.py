"""The sections of a Fever response: groups, feeds, icons, items and lists of ids."""

from base64 import b64encode
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from starlette.requests import Request

from feedmill.app import App
from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.entries.sync_entries import RenderedEntry, rendered_entries, sync_ids
from feedmill.library.feeds.icons import icon_of_user
from feedmill.library.subscriptions.folders import NO_FOLDER, folder_paths, folders_of_user, no_folder_title
from feedmill.library.subscriptions.lookup import subscriptions_of_user, totals_of_user
from feedmill.model.entry_lists import EntryScope
from feedmill.model.subscription import Subscription
from feedmill.model.sync_query import SyncQuery
from feedmill.model.timestamps import from_iso
from feedmill.model.user import Caller
from feedmill.serve.http.app_images import image_urls_for
from feedmill.serve.http.app_parameters import AppParameters

Section = Callable[[Request, Caller, AppParameters], Awaitable[dict[str, Any]]]

ITEMS_AT_ONCE = 50
MOST_IDS = 1_000_000


async def last_refresh(app: App, who: Caller) -> int:
    """When a feed of the user was last fetched, in seconds."""
    at = (await totals_of_user(app.db, who.user.id)).last_fetched_at
    return _seconds(at) if at else 0


async def subscriptions_in_group(app: App, who: Caller, group_id: int) -> tuple[int, ...]:
    """The subscriptions of a group, as `feeds_groups` lists them."""
    subscriptions = await subscriptions_of_user(app.db, who.user.id)
    return tuple(_groups_of(subscriptions).get(group_id, ()))


async def _groups(request: Request, who: Caller, sent: AppParameters) -> dict[str, Any]:
    app: App = request.app.state.app
    names = folder_paths(await folders_of_user(app.db, who.user.id))
    filled = _groups_of(await subscriptions_of_user(app.db, who.user.id))
    titles = {id: "/".join(names[id]) if id in names else no_folder_title() for id in filled}
    return {"groups": [{"id": id, "title": title} for id, title in titles.items()], **_feeds_groups(filled)}


async def _feeds(request: Request, who: Caller, sent: AppParameters) -> dict[str, Any]:
    app: App = request.app.state.app
    subscriptions = await subscriptions_of_user(app.db, who.user.id)
    return {"feeds": [_feed(each) for each in subscriptions], **_feeds_groups(_groups_of(subscriptions))}


async def _favicons(request: Request, who: Caller, sent: AppParameters) -> dict[str, Any]:
    app: App = request.app.state.app
    found = []
    for each in await subscriptions_of_user(app.db, who.user.id):
        icon = await icon_of_user(app.db, who.user.id, each.icon) if each.icon else None
        if icon is not None:
            data = f"{icon.media_type};base64,{b64encode(icon.body).decode()}"
            found.append({"id": each.id, "data": data})
    return {"favicons": found}


async def _items(request: Request, who: Caller, sent: AppParameters) -> dict[str, Any]:
    app: App = request.app.state.app
    assert who.app_password is not None
    ids = await _requested_ids(app, who, sent)
    found = await rendered_entries(app.db, who.user.id, ids, image_urls_for(request, who.app_password.id))
    totals = await totals_of_user(app.db, who.user.id)
    return {"total_items": totals.entries, "items": [_item(entry) for entry in found]}


async def _links(request: Request, who: Caller, sent: AppParameters) -> dict[str, Any]:
    return {"links": []}


async def _unread_item_ids(request: Request, who: Caller, sent: AppParameters) -> dict[str, Any]:
    return {"unread_item_ids": await _id_list(request, who, SyncQuery(unread=True, most=MOST_IDS))}


async def _saved_item_ids(request: Request, who: Caller, sent: AppParameters) -> dict[str, Any]:
    return {"saved_item_ids": await _id_list(request, who, SyncQuery(starred=True, most=MOST_IDS))}


SECTIONS: dict[str, Section] = {
    "groups": _groups,
    "feeds": _feeds,
    "favicons": _favicons,
    "items": _items,
    "links": _links,
    "unread_item_ids": _unread_item_ids,
    "saved_item_ids": _saved_item_ids,
}


async def _id_list(request: Request, who: Caller, query: SyncQuery) -> str:
    app: App = request.app.state.app
    return ",".join(map(str, await sync_ids(app.db, who.user.id, query)))


async def _requested_ids(app: App, who: Caller, sent: AppParameters) -> Sequence[int]:
    if "with_ids" in sent:
        return _numbers(sent, "with_ids")[:ITEMS_AT_ONCE]
    query = SyncQuery(scope=await _scope(app, who, sent), most=ITEMS_AT_ONCE)
    if "max_id" in sent:
        return await sync_ids(app.db, who.user.id, _before(query, sent.number("max_id", 0) or 0))
    since = sent.number("since_id", 0) or 0
    return await sync_ids(app.db, who.user.id, replace(query, after_id=since, oldest_first=True))


def _before(query: SyncQuery, id: int) -> SyncQuery:
    """Entries with smaller ids; 0 is no limit."""
    return replace(query, before_id=min(id, query.before_id)) if id else query


async def _scope(app: App, who: Caller, sent: AppParameters) -> EntryScope:
    if "feed_ids" not in sent and "group_ids" not in sent:
        return EntryScope()
    found = set(_numbers(sent, "feed_ids"))
    for group_id in _numbers(sent, "group_ids"):
        found.update(await subscriptions_in_group(app, who, group_id))
    return EntryScope(tuple(sorted(found)))


def _numbers(sent: AppParameters, name: str) -> list[int]:
    """A list of ids with commas between them."""
    parts = [part.strip() for part in sent.text(name).split(",") if part.strip()]
    if not all(part.isascii() and part.isdigit() and len(part) < 16 for part in parts):
        raise BadInput(Message("error.not_an_id"), field=name)
    return [int(part) for part in parts]


def _groups_of(subscriptions: Sequence[Subscription]) -> dict[int, list[int]]:
    """By group its subscriptions; groups without any are left out."""
    found: dict[int, list[int]] = {}
    for each in subscriptions:
        for folder_id in each.folder_ids or (NO_FOLDER,):
            found.setdefault(folder_id, []).append(each.id)
    return found


def _feeds_groups(filled: dict[int, list[int]]) -> dict[str, Any]:
    return {"feeds_groups": [{"group_id": id, "feed_ids": ",".join(map(str, feeds))} for id, feeds in filled.items()]}


def _feed(subscription: Subscription) -> dict[str, Any]:
    """`id` stands before `favicon_id`: Readrops reads them in this order."""
    return {
        "id": subscription.id,
        "favicon_id": subscription.id if subscription.icon else 0,
        "title": subscription.title,
        "url": subscription.url,
        "site_url": subscription.site_url or subscription.url,
        "is_spark": 0,
        "last_updated_on_time": _seconds(subscription.last_success_at) if subscription.last_success_at else 0,
    }


def _item(entry: RenderedEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "feed_id": entry.subscription_id,
        "title": entry.title,
        "author": entry.author,
        "html": entry.html,
        "url": entry.link,
        "is_saved": int(entry.starred_at is not None),
        "is_read": int(not entry.is_unread),
        "created_on_time": max(round(entry.published_at.timestamp()), 0),
    }


def _seconds(at: str) -> int:
    return int(from_iso(at).timestamp())
