"""`/v1/entries`: lists, reads and marks entries."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from feedmill.app import App
from feedmill.errors import BadInput, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.entries.article import read_article, reading_minutes
from feedmill.library.entries.full_text import fetch_full_text
from feedmill.library.entries.sync_entries import (
    RenderedEntry,
    count_entries,
    mark_in_chunks,
    rendered_entries,
    sync_ids,
)
from feedmill.library.search.run_search import SearchRequest, run_search
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.sync_query import SyncQuery
from feedmill.model.user import Caller
from feedmill.serve.http.app_images import image_urls_for
from feedmill.serve.miniflux.entry_query import read_entry_query
from feedmill.serve.miniflux.read_body import read_body
from feedmill.serve.miniflux.responses import HEADERS, done, json_response, rfc3339
from feedmill.serve.miniflux.user_feeds import UserFeeds, load_user_feeds

MOST_IDS = 100_000
MOST_FOUND = 200
ENCLOSURES_PER_ENTRY = 100


class EntriesBody(msgspec.Struct):
    entry_ids: list[int]
    status: str | None = None
    starred: bool | None = None


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
    return json_response({"total": total, "entries": await _entries(request, who, user_feeds, ids)})


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
    found = await _entries(request, who, user_feeds, [request.path_params["entry_id"]])
    if not found or not _is_within(request, user_feeds, found[0]["feed_id"]):
        raise NotFound(Message("error.no_such_entry"))
    return json_response(found[0])


async def update_entries(request: Request, who: Caller) -> Response:
    """Marks entries as read or unread, or stars them."""
    app: App = request.app.state.app
    body = await read_body(request, EntriesBody)
    if body.status not in {None, "read", "unread"} or (body.status is None and body.starred is None):
        raise BadInput(Message("error.bad_choice", name="status", choices="read, unread"), field="status")
    if not body.entry_ids or any(not 0 < id < 2**53 for id in body.entry_ids):
        raise BadInput(Message("error.not_an_id"), field="entry_ids")
    marks = EntryMarks(read=None if body.status is None else body.status == "read", starred=body.starred)
    await mark_in_chunks(app.db, who.user.id, body.entry_ids, marks, app.tools.clock())
    return done()


async def toggle_star(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    entry = await _one(request, who)
    marks = EntryMarks(starred=entry.starred_at is None)
    await mark_in_chunks(app.db, who.user.id, [entry.id], marks, app.tools.clock())
    return done()


async def save_entry(request: Request, who: Caller) -> Response:
    """Accepted: there is no other service to save it to."""
    await _one(request, who)
    return Response(status_code=202, headers=HEADERS)


async def fetch_content(request: Request, who: Caller) -> Response:
    app: App = request.app.state.app
    entry, now = await _one(request, who), app.tools.clock()
    await fetch_full_text(app.db, app.client, who.user.id, entry.id, now)
    article = await read_article(app.db, app.blobs, who.user.id, entry.id, now)
    return json_response({"content": article.full_html or article.html, "reading_time": article.minutes})


async def _one(request: Request, who: Caller) -> RenderedEntry:
    app: App = request.app.state.app
    found = await rendered_entries(app.db, who.user.id, [request.path_params["entry_id"]], str)
    if not found:
        raise NotFound(Message("error.no_such_entry"))
    return found[0]


async def _entries(request: Request, who: Caller, user_feeds: UserFeeds, ids: Sequence[int]) -> list[dict[str, Any]]:
    app: App = request.app.state.app
    assert who.app_password is not None
    found = await rendered_entries(app.db, who.user.id, ids, image_urls_for(request, who.app_password.id))
    return [_entry(user_feeds, entry) for entry in found]


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


def _entry(user_feeds: UserFeeds, entry: RenderedEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "user_id": user_feeds.user_id,
        "feed_id": entry.subscription_id,
        "status": "unread" if entry.is_unread else "read",
        "hash": entry.guid,
        "title": entry.title,
        "url": entry.link,
        "comments_url": entry.comments_url,
        "published_at": rfc3339(entry.published_at),
        "created_at": rfc3339(entry.first_seen_at),
        "changed_at": rfc3339(entry.starred_at or entry.first_seen_at),
        "content": entry.html,
        "author": entry.author,
        "share_code": "",
        "starred": entry.starred_at is not None,
        "reading_time": reading_minutes(entry.html),
        "enclosures": [_enclosure(user_feeds, entry, place) for place in range(len(entry.enclosures))],
        "feed": user_feeds.feed(user_feeds.find_subscription(entry.subscription_id)),
        "tags": list(dict.fromkeys([*entry.labels, *entry.categories])),
    }


def _enclosure(user_feeds: UserFeeds, entry: RenderedEntry, place: int) -> dict[str, Any]:
    enclosure = entry.enclosures[place]
    return {
        "id": entry.id * ENCLOSURES_PER_ENTRY + place,
        "user_id": user_feeds.user_id,
        "entry_id": entry.id,
        "url": enclosure.url,
        "mime_type": enclosure.type or "",
        "size": enclosure.length or 0,
        "media_progression": 0,
    }
