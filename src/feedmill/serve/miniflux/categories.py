"""`/v1/categories`: the user's folders."""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from feedmill.app import App
from feedmill.errors import BadInput, NameTaken
from feedmill.i18n.messages import Message
from feedmill.library.entries.sync_entries import mark_read_seen_until
from feedmill.library.jobs.job_port import JobPort
from feedmill.library.jobs.start_refresh import refresh_selected
from feedmill.library.subscriptions.folders import (
    MAX_DEPTH,
    MAX_NAME,
    NO_FOLDER,
    alter_folder,
    delete_folder,
    ensure_folders,
)
from feedmill.model.entry_marks import MarkAllRead
from feedmill.model.user import Caller
from feedmill.serve.miniflux.entry_query import read_truth
from feedmill.serve.miniflux.read_body import read_body
from feedmill.serve.miniflux.responses import done, json_response
from feedmill.serve.miniflux.user_feeds import UserFeeds, load_user_feeds


class NewCategoryBody(msgspec.Struct):
    title: str


class CategoryBody(msgspec.Struct):
    title: str | None = None


async def list_categories(request: Request, who: Caller) -> Response:
    """All folders, and the category of feeds without one; with `counts=true` how many feeds and unread entries."""
    app: App = request.app.state.app
    user_feeds = await load_user_feeds(app, who)
    has_counts = read_truth(request.query_params, "counts")
    return json_response(
        [user_feeds.category(id) | (_counts(user_feeds, id) if has_counts else {}) for id in user_feeds.titles]
    )


async def create_category(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    path = _path((await read_body(request, NewCategoryBody)).title)
    if "/".join(path) in (await load_user_feeds(app, who)).titles.values():
        raise NameTaken(Message("error.category_exists"))
    ids = await ensure_folders(app.db, who.user.id, [path])
    return json_response((await load_user_feeds(app, who)).category(ids[path]), 201)


async def update_category(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    body = await read_body(request, CategoryBody)
    category_id = await _own(request, who)
    if body.title is not None:
        await alter_folder(app.db, who.user.id, category_id, _path(body.title)[-1], None, None)
    return json_response((await load_user_feeds(app, who)).category(category_id), 201)


async def delete_category(request: Request, who: Caller) -> Response:
    """Deletes the folder; its feeds stay."""
    app: App = request.app.state.app
    await delete_folder(app.db, who.user.id, await _own(request, who))
    return done()


async def mark_category_read(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    scope = (await load_user_feeds(app, who)).scope(None, request.path_params["category_id"])
    await mark_read_seen_until(app.db, who.user, MarkAllRead(scope), None, app.tools.clock())
    return done()


async def refresh_category(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    work: JobPort = request.app.state.work
    chosen = (await load_user_feeds(app, who)).in_category(request.path_params["category_id"])
    await refresh_selected(work, app.db, who.user.id, chosen)
    return done()


async def list_category_feeds(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    user_feeds = await load_user_feeds(app, who)
    return json_response([user_feeds.feed(each) for each in user_feeds.in_category(request.path_params["category_id"])])


async def _own(request: Request, who: Caller) -> int:
    """The id of a folder; the category of feeds without one can't be changed."""
    app: App = request.app.state.app
    category_id: int = request.path_params["category_id"]
    (await load_user_feeds(app, who)).check_category(category_id)
    if category_id == NO_FOLDER:
        raise BadInput(Message("error.fixed_category"))
    return category_id


def _path(title: str) -> tuple[str, ...]:
    path = tuple(part.strip() for part in title.split("/"))
    if not all(path) or len(path) > MAX_DEPTH or any(len(part) > MAX_NAME or "\0" in part for part in path):
        raise BadInput(Message("error.bad_category_title", most=MAX_NAME), field="title")
    return path


def _counts(user_feeds: UserFeeds, category_id: int) -> dict[str, Any]:
    feeds = user_feeds.in_category(category_id)
    return {"feed_count": len(feeds), "total_unread": sum(each.unread_count for each in feeds)}
