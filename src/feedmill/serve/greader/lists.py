"""`user-info`, `subscription/list`, `tag/list` and `unread-count` of the Google Reader API."""

from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from feedmill.app import App
from feedmill.library.entries.sync_entries import newest_unread
from feedmill.model.subscription import Subscription
from feedmill.model.user import Caller
from feedmill.serve.greader.responses import NO_CACHE, json_as_freshrss, json_response
from feedmill.serve.greader.streams import FEED, LABEL, READING_LIST, STARRED, UserStreams, streams_of
from feedmill.serve.http.app_images import site_of
from feedmill.serve.http.app_parameters import AppParameters

MICROSECONDS = 1_000_000


async def user_info(request: Request, who: Caller) -> Response:
    id = str(who.user.id)
    info = {"userId": id, "userName": who.user.name, "userProfileId": id, "userEmail": ""}
    return json_as_freshrss(request, info)


async def list_subscriptions(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    streams = await streams_of(app, who.user.id)
    names = streams.folder_names
    found = [_subscription(request, each, names) for each in streams.subscriptions]
    return json_response({"subscriptions": found})


async def is_subscribed(request: Request, who: Caller, sent: AppParameters) -> Response:
    """`true` if the user subscribes to the feed `s`."""
    app: App = request.app.state.app
    found = (await streams_of(app, who.user.id)).find_subscription(sent.text("s"))
    return PlainTextResponse("true" if found else "false", headers=NO_CACHE)


async def list_tags(request: Request, who: Caller) -> Response:
    """Folders and labels. RSS Guard drops feeds whose folder is not here; a label named like a folder is left out."""
    app: App = request.app.state.app
    streams = await streams_of(app, who.user.id)
    folders = list(dict.fromkeys(streams.folder_names.values()))
    labels = [label.name for label in streams.labels if label.name not in folders]
    return json_response(
        {
            "tags": [
                {"id": STARRED},
                *({"id": LABEL + name, "type": "folder"} for name in folders),
                *({"id": LABEL + name, "type": "tag"} for name in labels),
            ]
        }
    )


async def count_unread(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    streams = await streams_of(app, who.user.id)
    newest = await newest_unread(app.db, who.user.id)
    by_feed = {each.id: each.unread_count for each in streams.subscriptions if each.unread_count}
    counts = [_count(FEED + str(id), count, newest.get(id)) for id, count in by_feed.items()]
    counts += [each for each in _folder_counts(streams, by_feed, newest) if each["count"]]
    total = sum(by_feed.values())
    counts.append(_count(READING_LIST, total, max(newest.values(), default=None)))
    return json_response({"max": total, "unreadcounts": counts})


def _folder_counts(streams: UserStreams, by_feed: dict[int, int], newest: dict[int, datetime]) -> list[dict[str, Any]]:
    found = []
    for folder_id, name in streams.folder_names.items():
        within = [id for id in streams.in_folder(folder_id) if id in by_feed]
        latest = max((newest[id] for id in within if id in newest), default=None)
        found.append(_count(LABEL + name, sum(by_feed[id] for id in within), latest))
    return found


def _count(stream: str, count: int, newest: datetime | None) -> dict[str, Any]:
    at = 0 if newest is None else round(newest.timestamp() * MICROSECONDS)
    return {"id": stream, "count": count, "newestItemTimestampUsec": str(at)}


def _subscription(request: Request, subscription: Subscription, names: dict[int, str]) -> dict[str, Any]:
    folders = [names[id] for id in subscription.folder_ids if id in names]
    return {
        "id": FEED + str(subscription.id),
        "title": subscription.title,
        "categories": [{"id": LABEL + name, "label": name} for name in folders],
        "url": subscription.url,
        "htmlUrl": subscription.site_url or subscription.url,
        "iconUrl": f"{site_of(request)}/icon/{subscription.icon}" if subscription.icon else "",
    }
