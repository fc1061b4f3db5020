"""`/v1/entries`: lists, reads and marks entries."""

from dataclasses import replace

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from feedmill.app import App
from feedmill.errors import BadInput, NotAllowed, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.entries.article import reading_minutes
from feedmill.library.entries.full_text import fetch_full_text
from feedmill.library.entries.sync_entries import (
    RenderedEntry,
    count_entries,
    mark_in_chunks,
    rendered_full_text,
    sync_ids,
)
from feedmill.library.search.run_search import SearchRequest, run_search
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.sync_query import SyncQuery
from feedmill.model.user import Caller
from feedmill.serve.http.app_images import image_urls_for
from feedmill.serve.miniflux.entry_query import read_entry_query, read_truth
from feedmill.serve.miniflux.entry_shapes import entry_shapes, find_rendered, read_rendered
from feedmill.serve.miniflux.read_body import read_body
from feedmill.serve.miniflux.responses import done, json_response
from feedmill.serve.miniflux.user_feeds import UserFeeds, load_user_feeds

MOST_IDS = 100_000
MOST_FOUND = 200
MOST_MARKED = 20_000


class EntriesBody(msgspec.Struct):
    entry_ids: list[int]
    status: str | None = None
    starred: bool | None = None


class EntryBody(msgspec.Struct):
    title: str | None = None
    content: str | None = None


class ImportBody(msgspec.Struct):
    url: str


async def list_entries(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    user_feeds = await load_user_feeds(app, who)
    path = request.path_params
    query = read_entry_query(user_feeds, request.query_params, path.get("feed_id"), path.get("category_id"))
    query = await _among_found(request, who, query)
    if query is None:
        return json_response({"total": 0, "entries": []})
    total = await count_entries(app.db, who.user.id, query)
    ids = await sync_ids(app.db, who.user.id, query)
    found = await read_rendered(request, who, ids)
    return json_response({"total": total, "entries": await entry_shapes(request, who, user_feeds, found)})


async def list_entry_ids(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    user_feeds = await load_user_feeds(app, who)
    query = read_entry_query(user_feeds, request.query_params)
    if query is None:
        return json_response({"total": 0, "entry_ids": []})
    if "limit" not in request.query_params:
        query = replace(query, most=MOST_IDS)
    total = await count_entries(app.db, who.user.id, query)
    return json_response({"total": total, "entry_ids": await sync_ids(app.db, who.user.id, query)})


async def read_entry(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    user_feeds = await load_user_feeds(app, who)
    entry = await _own(request, who)
    if not _is_within(request, user_feeds, entry.subscription_id):
        raise NotFound(Message("error.no_such_entry"))
    [shape] = await entry_shapes(request, who, user_feeds, [entry])
    return json_response(shape)


async def update_entry(request: Request, who: Caller) -> Response:
    """Refused: all subscribers of a feed read the same text."""
    await read_body(request, EntryBody)
    await _own(request, who)
    raise NotAllowed(Message("error.shared_entries"))


async def import_entry(request: Request, who: Caller) -> Response:
    """Refused, as the change of a text is: the entry would be in the feed of all its subscribers."""
    app: App = request.app.state.app
    await read_body(request, ImportBody)
    (await load_user_feeds(app, who)).find_subscription(request.path_params["feed_id"])
    raise NotAllowed(Message("error.shared_entries"))


async def update_entries(request: Request, who: Caller) -> Response:
    """Marks entries as read or unread, or stars them."""
    app: App = request.app.state.app
    body = await read_body(request, EntriesBody)
    if body.status not in {None, "read", "unread"} or (body.status is None and body.starred is None):
        raise BadInput(Message("error.bad_choice", name="status", choices="read, unread"), field="status")
    if not body.entry_ids or any(not 0 < id < 2**53 for id in body.entry_ids):
        raise BadInput(Message("error.not_an_id"), field="entry_ids")
    if len(body.entry_ids) > MOST_MARKED:
        raise BadInput(Message("error.too_many_ids", most=MOST_MARKED), field="entry_ids")
    marks = EntryMarks(read=None if body.status is None else body.status == "read", starred=body.starred)
    await mark_in_chunks(app.db, who.user, body.entry_ids, marks, app.tools.clock())
    return done()


async def toggle_star(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    entry = await _own(request, who)
    marks = EntryMarks(starred=entry.starred_at is None)
    await mark_in_chunks(app.db, who.user, [entry.id], marks, app.tools.clock())
    return done()


async def save_entry(request: Request, who: Caller) -> Response:
    """Refused: there is no other service to save it to, as `/integrations/status` says."""
    await _own(request, who)
    raise BadInput(Message("error.no_integration"))


async def fetch_content(request: Request, who: Caller) -> Response:
    """Fetches the full text. It is stored whether or not `update_content` asks for it, beside the text of the feed."""
    app: App = request.app.state.app
    assert who.app_password is not None
    entry_id = (await _own(request, who)).id
    read_truth(request.query_params, "update_content")
    await fetch_full_text(app.db, app.client, who.user.id, entry_id, app.tools.clock())
    html = await rendered_full_text(app.db, who.user.id, entry_id, image_urls_for(request, who.app_password.id))
    return json_response({"content": html, "reading_time": reading_minutes(html)})


async def _own(request: Request, who: Caller) -> RenderedEntry:
    return await find_rendered(request, who, request.path_params["entry_id"])


async def _among_found(request: Request, who: Caller, query: SyncQuery | None) -> SyncQuery | None:
    """The query limited to what `search` finds."""
    text = request.query_params.get("search", "").strip()
    if query is None or not text:
        return query
    app: App = request.app.state.app
    found = await run_search(app.db, who.user.id, SearchRequest(text, most=MOST_FOUND), app.tools.clock())
    return replace(query, among=tuple(item.id for item in found.items))


def _is_within(request: Request, user_feeds: UserFeeds, feed_id: int) -> bool:
    """Whether the entry is of the feed or category that the path names."""
    path = request.path_params
    scope = user_feeds.scope(path.get("feed_id"), path.get("category_id"))
    return scope.subscription_ids is None or feed_id in scope.subscription_ids
