"""`subscription/edit`, `quickadd`, `export` and `import` of the Google Reader API."""

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from feedmill.app import App
from feedmill.collect.discovery.response_cache import ResponseCache
from feedmill.errors import BadInput, CallerError, TooLarge
from feedmill.i18n.messages import Message
from feedmill.library.jobs.job_port import JobPort
from feedmill.library.jobs.start_refresh import start_first_fetches
from feedmill.library.subscriptions.change_subscription import SubscriptionChange, unsubscribe, update_subscription
from feedmill.library.subscriptions.errors import AlreadySubscribed, SeveralFeeds
from feedmill.library.subscriptions.export_opml import export_opml
from feedmill.library.subscriptions.folders import clip_path, ensure_folders
from feedmill.library.subscriptions.import_opml import import_and_fetch, plan_import
from feedmill.library.subscriptions.opml import MAX_BYTES
from feedmill.library.subscriptions.subscribe import SubscribeRequest, subscribe
from feedmill.model.subscription import Subscription
from feedmill.model.user import Caller
from feedmill.serve.greader.responses import NO_STORE, json_response, ok
from feedmill.serve.greader.streams import FEED, LABEL, UserStreams, normal_stream, streams_of
from feedmill.serve.http.app_parameters import AppParameters
from feedmill.serve.http.body_limits import with_body_limit

MAX_TITLE = 1000


async def edit_subscriptions(request: Request, who: Caller, sent: AppParameters) -> Response:
    """`ac`: subscribes to `s`, ends the subscription, or changes its title (`t`) and folders (`a`, `r`)."""
    action = sent.text("ac")
    if action not in {"subscribe", "edit", "unsubscribe"} or not sent.all("s"):
        raise BadInput(Message("error.unknown_action"), field="ac")
    for stream in sent.all("s"):
        if action == "subscribe":
            await _add(request, who, stream.removeprefix(FEED), anyway=True)
        if action == "unsubscribe":
            await _end(request, who, stream)
        else:
            await _change(request, who, stream, sent)
    return ok()


async def quick_add(request: Request, who: Caller, sent: AppParameters) -> Response:
    """Subscribes to the feed at an address, or to the first feed of the page there."""
    written = sent.text("quickadd").strip()
    url = written.removeprefix(FEED)
    try:
        added = await _add(request, who, url, anyway=False)
    except CallerError as error:
        return json_response({"numResults": 0, "query": written, "error": str(error)})
    return json_response(
        {"numResults": 1, "query": written, "streamId": FEED + str(added.id), "streamName": added.title}
    )


async def export_subscriptions(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    body = await export_opml(app.db, who.user.id, None, app.tools.clock())
    return Response(body, media_type="text/xml; charset=utf-8", headers=NO_STORE)


async def import_subscriptions(request: Request, who: Caller) -> Response:
    """The body is OPML."""
    app: App = request.app.state.app
    work: JobPort = request.app.state.work
    too_large = TooLarge(Message("error.opml_too_large", megabytes=MAX_BYTES // 1_000_000))
    plan = await plan_import(app.db, who.user, await with_body_limit(request, MAX_BYTES, too_large).body())
    await import_and_fetch(work, app.tools, who.user, plan)
    return ok()


async def _add(request: Request, who: Caller, url: str, *, anyway: bool) -> Subscription:
    app: App = request.app.state.app
    work: JobPort = request.app.state.work
    cache: ResponseCache = request.app.state.discovery_cache
    try:
        done = await subscribe(app.tools, who.user, SubscribeRequest(url, anyway=anyway), cache)
    except SeveralFeeds as several:
        first: dict[str, Any] = several.more["candidates"][0]
        done = await subscribe(app.tools, who.user, SubscribeRequest(first["url"], anyway=anyway), cache)
    except AlreadySubscribed:
        if not anyway:
            raise
        return await _find(app, who, FEED + url)
    await start_first_fetches(work, who.user.id, [done])
    return done.subscription


async def _end(request: Request, who: Caller, stream: str) -> None:
    app: App = request.app.state.app
    await unsubscribe(app.db, who.user.id, (await _find(app, who, stream)).id)


async def _change(request: Request, who: Caller, stream: str, sent: AppParameters) -> None:
    app: App = request.app.state.app
    streams = await streams_of(app, who.user.id)
    found = _found(streams, stream)
    added, removed = _names(sent.all("a")), _names(sent.all("r"))
    folder_ids: list[int] | None = None
    if added or removed:
        paths = [path for name in added if (path := clip_path(tuple(name.split("/"))))]
        known = await ensure_folders(app.db, who.user.id, paths)
        gone = {streams.find_folder(name) for name in removed}
        folder_ids = sorted({*(id for id in found.folder_ids if id not in gone), *(known[path] for path in paths)})
    title = {"title": sent.text("t")[:MAX_TITLE].strip() or None} if "t" in sent else {}
    if folder_ids is None and not title:
        return
    change = SubscriptionChange(title, folder_ids)
    await update_subscription(app.db, app.tools.rules, who.user.id, found.id, change, app.tools.clock())


async def _find(app: App, who: Caller, stream: str) -> Subscription:
    return _found(await streams_of(app, who.user.id), stream)


def _found(streams: UserStreams, stream: str) -> Subscription:
    found = streams.find_subscription(stream)
    if found is None:
        raise BadInput(Message("error.no_such_subscription"), field="s")
    return found


def _names(streams: Sequence[str]) -> list[str]:
    """The names of the folders among these streams."""
    found = [normal_stream(each) for each in streams]
    return [each.removeprefix(LABEL) for each in found if each.startswith(LABEL) and each != LABEL]
