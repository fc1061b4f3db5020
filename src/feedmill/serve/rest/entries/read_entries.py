"""`/api/entries`: lists entries, reads one with its revisions, exports the starred ones."""

from datetime import UTC, datetime
from hashlib import blake2b
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import PlainTextResponse, Response, StreamingResponse

from feedmill.api_schemas.entries import ArticleResponse, EntryPage
from feedmill.library.cursors import from_cursor
from feedmill.library.entries.article import read_article
from feedmill.library.entries.export_starred import MEDIA_TYPE, export_starred
from feedmill.library.entries.list_entries import EntryListQuery, list_entries
from feedmill.library.entries.revisions import diff_revisions, original_html, revisions_of
from feedmill.library.entries.scopes import find_scope
from feedmill.model.entry_lists import EntryOrder, EntryView
from feedmill.model.max_id import MAX_ID
from feedmill.serve.http.cache_headers import matches_etag
from feedmill.serve.rest.core.dependencies import Reader, TheApp
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import PathId
from feedmill.serve.rest.core.page_parameters import Cursor, Limit
from feedmill.serve.rest.entries.revision_schemas import DiffResponse, RevisionPage

DESCRIBED = {"description": "A JSON Feed (version 1.1)", "content": {MEDIA_TYPE: {"schema": {"type": "object"}}}}

router = APIRouter(prefix="/entries", tags=["entries"])


@router.get("/export", response_class=StreamingResponse, responses={200: DESCRIBED})
async def export_starred_entries(app: TheApp, who: Reader) -> StreamingResponse:
    """All starred entries with their texts as one JSON Feed, last starred first.

    Labels are its tags; `_feedmill` has the feed of an entry, and when it was starred.
    """
    body = export_starred(app.db, who.user.id, app.tools.clock())
    headers = {"Content-Disposition": 'attachment; filename="feedmill-starred.json"', "Cache-Control": "no-store"}
    return StreamingResponse(body, media_type=MEDIA_TYPE, headers=headers)


QueryId = Annotated[int | None, Query(ge=1, lt=MAX_ID)]
RevisionNumber = Annotated[int, Query(ge=0, le=1000)]
UNCHANGED: dict[int | str, dict[str, Any]] = {304: {"description": "The page is as you have it."}}
NO_CACHE = {"Cache-Control": "private, no-cache"}
SANDBOXED = NO_CACHE | {"Content-Security-Policy": "default-src 'none'; sandbox", "X-Content-Type-Options": "nosniff"}


async def _requested_list(
    app: TheApp,
    who: Reader,
    view: EntryView = EntryView.UNREAD,
    order: EntryOrder = EntryOrder.NEWEST,
    feed_id: QueryId = None,
    folder_id: QueryId = None,
    label_id: QueryId = None,
) -> EntryListQuery:
    """The list that the query names; `feed_id` is the id of a subscription."""
    return EntryListQuery(view, await find_scope(app.db, who.user.id, feed_id, folder_id, label_id), order)


RequestedList = Annotated[EntryListQuery, Depends(_requested_list)]


@router.get("", response_model=EntryPage, responses=problem_responses(404) | UNCHANGED)
async def list_entries_of_view(
    request: Request, app: TheApp, who: Reader, query: RequestedList, cursor: Cursor = None, limit: Limit = 50
) -> Response:
    """Entries of a view, page by page; entries that arrive in the meantime do not shift pages."""
    beyond = from_cursor(cursor) if cursor is not None else None
    page_query = EntryListQuery(query.view, query.scope, query.order, beyond, limit)
    page = await list_entries(app.db, who.user.id, page_query, datetime.now(UTC))
    # Not of `as_of`, which other people's entries move: an older one is as good.
    tag = f'W/"{blake2b(msgspec.json.encode((page.items, page.next)), digest_size=12).hexdigest()}"'
    headers = NO_CACHE | {"ETag": tag}
    if matches_etag(request, tag):
        return Response(status_code=304, headers=headers)
    return Response(msgspec.json.encode(page), headers=headers, media_type="application/json")


@router.get("/{entry_id:int}", response_model=ArticleResponse, responses=problem_responses(404))
async def read_entry(
    app: TheApp,
    who: Reader,
    query: RequestedList,
    entry_id: PathId,
    version: RevisionNumber | None = None,
    raw: bool = False,
) -> Response:
    """An entry in its newest version, or another one, with the previous and next in the list of the query."""
    article = await read_article(
        app.db, app.blobs, who.user.id, entry_id, datetime.now(UTC), within=query, version=version, raw=raw
    )
    return Response(msgspec.json.encode(article), headers=NO_CACHE, media_type="application/json")


@router.get("/{entry_id:int}/revisions", responses=problem_responses(404))
async def list_revisions(app: TheApp, who: Reader, entry_id: PathId) -> RevisionPage:
    """The versions of an entry; number 0 is the first."""
    found = await revisions_of(app.db, who.user.id, entry_id)
    return RevisionPage.model_validate({"items": found}, from_attributes=True)


@router.get("/{entry_id:int}/difference", responses=problem_responses(404))
async def compare_revisions(
    app: TheApp, who: Reader, entry_id: PathId, old: RevisionNumber = 0, new: RevisionNumber = 1
) -> DiffResponse:
    """The differences between two versions of an entry, word by word."""
    found = await diff_revisions(app.db, who.user.id, entry_id, old, new)
    return DiffResponse.model_validate(found, from_attributes=True)


@router.get("/{entry_id:int}/original", response_class=PlainTextResponse, responses=problem_responses(404))
async def read_original(app: TheApp, who: Reader, entry_id: PathId) -> PlainTextResponse:
    """The original HTML of an entry, as plain text, because it may contain anything."""
    return PlainTextResponse(await original_html(app.db, who.user.id, entry_id), headers=SANDBOXED)
