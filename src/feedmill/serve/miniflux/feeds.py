"""`/v1/feeds`, `/v1/discover`, `/v1/icons`, `/v1/export` and `/v1/import`."""

from base64 import b64encode
from datetime import timedelta
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from feedmill.app import App
from feedmill.collect.discovery.response_cache import ResponseCache
from feedmill.errors import BadInput, Conflict, NotFound, TooLarge
from feedmill.i18n.messages import Message
from feedmill.library.entries.sync_entries import mark_read_seen_until
from feedmill.library.feeds.icons import icon_of_user
from feedmill.library.jobs.job_port import JobPort
from feedmill.library.jobs.start_refresh import refresh_many, refresh_one, start_first_fetches, wait_for_refresh
from feedmill.library.subscriptions.change_subscription import SubscriptionChange, unsubscribe, update_subscription
from feedmill.library.subscriptions.export_opml import export_opml
from feedmill.library.subscriptions.folders import NO_FOLDER
from feedmill.library.subscriptions.import_opml import import_and_fetch, plan_import
from feedmill.library.subscriptions.opml import MAX_BYTES
from feedmill.library.subscriptions.subscribe import SubscribeRequest, discover, subscribe
from feedmill.model.entry_marks import MarkAllRead
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.subscription import Subscription
from feedmill.model.user import Caller
from feedmill.serve.http.body_limits import with_body_limit
from feedmill.serve.miniflux.read_body import read_body
from feedmill.serve.miniflux.responses import HEADERS, done, json_response
from feedmill.serve.miniflux.user_feeds import UserFeeds, load_user_feeds

FEED_TYPES = {"rss": "rss", "atom": "atom", "json": "json"}
MAX_TITLE = 1000
# Apps wait 30 s for a response.
REFRESH_PATIENCE = timedelta(seconds=20)


class NewFeedBody(msgspec.Struct):
    feed_url: str
    category_id: int | None = None
    disabled: bool = False


class FeedBody(msgspec.Struct):
    title: str | None = None
    category_id: int | None = None
    disabled: bool | None = None


class DiscoverBody(msgspec.Struct):
    url: str


async def list_feeds(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    user_feeds = await load_user_feeds(app, who)
    return json_response([user_feeds.feed(each) for each in user_feeds.subscriptions.values()])


async def count_entries_of_feeds(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    found = (await load_user_feeds(app, who)).subscriptions.values()
    return json_response(
        {
            "reads": {str(each.id): max(each.entry_count - each.unread_count, 0) for each in found},
            "unreads": {str(each.id): each.unread_count for each in found},
        }
    )


async def create_feed(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    work: JobPort = request.app.state.work
    cache: ResponseCache = request.app.state.discovery_cache
    body = await read_body(request, NewFeedBody)
    folders = _folders(await load_user_feeds(app, who), body.category_id) or ()
    wanted = SubscribeRequest(body.feed_url, FeedSettings(paused=body.disabled), folders)
    added = await subscribe(app.tools, who.user, wanted, cache)
    await start_first_fetches(work, who.user.id, [added])
    return json_response({"feed_id": added.subscription.id}, 201)


async def discover_feeds(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    cache: ResponseCache = request.app.state.discovery_cache
    body = await read_body(request, DiscoverBody)
    found = await discover(app.tools, who.user, body.url, cache)
    if not found.candidates:
        raise NotFound(Message("error.no_feed_found"))
    return json_response(
        [
            {"title": each.title or each.url, "url": each.url, "type": FEED_TYPES.get(each.type or "", "rss")}
            for each in found.candidates
        ]
    )


async def read_feed(request: Request, who: Caller) -> Response:
    user_feeds, subscription = await _own(request, who)
    return json_response(user_feeds.feed(subscription))


async def update_feed(request: Request, who: Caller) -> Response:
    """Changes title, category and whether it is paused; other members are ignored."""
    app: App = request.app.state.app
    body = await read_body(request, FeedBody)
    user_feeds, subscription = await _own(request, who)
    settings: dict[str, Any] = {}
    if body.title is not None:
        settings["title"] = body.title[:MAX_TITLE].strip() or None
    if body.disabled is not None:
        settings["paused"] = body.disabled
    change = SubscriptionChange(settings, _folders(user_feeds, body.category_id))
    await update_subscription(app.db, app.tools.rules, who.user.id, subscription.id, change, app.tools.clock())
    user_feeds, subscription = await _own(request, who)
    return json_response(user_feeds.feed(subscription), 201)


async def delete_feed(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    await unsubscribe(app.db, who.user.id, (await _own(request, who))[1].id)
    return done()


async def refresh_feed(request: Request, who: Caller) -> Response:
    """Answers after the fetch, as Miniflux does; a fetch that takes long goes on after the response."""
    app: App = request.app.state.app
    work: JobPort = request.app.state.work
    started = await refresh_one(work, app.db, who.user.id, (await _own(request, who))[1])
    problem = await wait_for_refresh(work, started.job_id, REFRESH_PATIENCE)
    if problem is not None:
        raise Conflict(problem)
    return done()


async def refresh_all_feeds(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    work: JobPort = request.app.state.work
    found = list((await load_user_feeds(app, who)).subscriptions.values())
    await refresh_many(work, app.db, who.user.id, found, None)
    return done()


async def mark_feed_read(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    scope = (await load_user_feeds(app, who)).scope(request.path_params["feed_id"], None)
    await mark_read_seen_until(app.db, who.user, MarkAllRead(scope), None, app.tools.clock())
    return done()


async def read_icon(request: Request, who: Caller) -> Response:
    """The icon of a feed; its id is that of the feed."""
    app: App = request.app.state.app
    _, subscription = await _own(request, who)
    icon = await icon_of_user(app.db, who.user.id, subscription.icon) if subscription.icon else None
    if icon is None:
        raise NotFound(Message("error.no_such_icon"))
    data = f"{icon.media_type};base64,{b64encode(icon.body).decode()}"
    return json_response({"id": subscription.id, "mime_type": icon.media_type, "data": data})


async def export_feeds(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    body = await export_opml(app.db, who.user.id, None, app.tools.clock())
    return Response(body, 200, HEADERS, "text/xml; charset=utf-8")


async def import_feeds(request: Request, who: Caller) -> Response:
    """The body is OPML."""
    app: App = request.app.state.app
    work: JobPort = request.app.state.work
    too_large = TooLarge(Message("error.opml_too_large", megabytes=MAX_BYTES // 1_000_000))
    plan = await plan_import(app.db, who.user, await with_body_limit(request, MAX_BYTES, too_large).body())
    await import_and_fetch(work, app.tools, who.user, plan)
    return json_response({"message": "Feeds imported successfully"}, 201)


async def _own(request: Request, who: Caller) -> tuple[UserFeeds, Subscription]:
    app: App = request.app.state.app
    user_feeds = await load_user_feeds(app, who)
    return user_feeds, user_feeds.find_subscription(request.path_params["feed_id"])


def _folders(user_feeds: UserFeeds, category_id: int | None) -> tuple[int, ...] | None:
    """The folders of a feed in this category; None: unchanged, as for 0, which apps without categories send."""
    if not category_id:
        return None
    try:
        user_feeds.check_category(category_id)
    except NotFound as error:
        raise BadInput(error.message, field="category_id") from error
    return () if category_id == NO_FOLDER else (category_id,)
