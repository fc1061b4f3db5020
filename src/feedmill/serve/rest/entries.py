"""`/api/entries`: lists of entries, and entries to read."""

from datetime import UTC, datetime
from hashlib import blake2b
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import PlainTextResponse, Response

from feedmill.library.article import read_article
from feedmill.library.cursors import from_cursor
from feedmill.library.reading import Wanted, list_entries
from feedmill.library.revisions import compare_versions, original_html, versions_of
from feedmill.library.scopes import find_scope
from feedmill.model.reading import Order, View
from feedmill.serve.rest.cursors import Cursor, Limit
from feedmill.serve.rest.entry_forms import ArticleShown, DifferenceShown, EntryPage, VersionPage
from feedmill.serve.rest.fields import MOST_ID, PathId
from feedmill.serve.rest.parts import Reader, TheApp
from feedmill.serve.rest.problems import described

router = APIRouter(prefix="/entries", tags=["entries"])

QueryId = Annotated[int | None, Query(ge=1, lt=MOST_ID)]
Number = Annotated[int, Query(ge=0, le=1000)]
UNCHANGED: dict[int | str, dict[str, Any]] = {304: {"description": "The page is as you have it."}}
NOT_KEPT = {"Cache-Control": "private, no-cache"}
HARMLESS = NOT_KEPT | {"Content-Security-Policy": "default-src 'none'; sandbox", "X-Content-Type-Options": "nosniff"}


async def _wanted(
    app: TheApp, who: Reader, view: View = View.UNREAD, order: Order = Order.NEWEST, feed_id: QueryId = None,
    folder_id: QueryId = None, label_id: QueryId = None,
) -> Wanted:  # fmt: skip
    """The list that the query names; `feed_id` is the id of a subscription."""
    return Wanted(view, await find_scope(app.db, who.user.id, feed_id, folder_id, label_id), order)


TheList = Annotated[Wanted, Depends(_wanted)]


@router.get("", response_model=EntryPage, responses=described(404) | UNCHANGED)
async def list_entries_of_view(
    request: Request, app: TheApp, who: Reader, wanted: TheList, cursor: Cursor = None, limit: Limit = 50
) -> Response:
    """Entries of a view, page by page; entries that arrive meanwhile shift nothing."""
    beyond = from_cursor(cursor) if cursor is not None else None
    asked = Wanted(wanted.view, wanted.scope, wanted.order, beyond, limit)
    page = await list_entries(app.db, who.user.id, asked, datetime.now(UTC))
    # Not of `as_of`, which other people's entries move: an older one is as good.
    tag = f'W/"{blake2b(msgspec.json.encode((page.items, page.next)), digest_size=12).hexdigest()}"'
    headers = NOT_KEPT | {"ETag": tag}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(msgspec.json.encode(page), headers=headers, media_type="application/json")


@router.get("/{entry_id:int}", response_model=ArticleShown, responses=described(404))
async def read_entry(
    app: TheApp, who: Reader, wanted: TheList, entry_id: PathId, version: Number | None = None, raw: bool = False
) -> Response:
    """An entry in its newest version, or in another one, with its neighbours in the list that the query names."""
    article = await read_article(
        app.db, app.blobs, who.user.id, entry_id, datetime.now(UTC), within=wanted, version=version, raw=raw
    )
    return Response(msgspec.json.encode(article), headers=NOT_KEPT, media_type="application/json")


@router.get("/{entry_id:int}/revisions", responses=described(404))
async def list_revisions(app: TheApp, who: Reader, entry_id: PathId) -> VersionPage:
    """What the feed made of an entry over time; number 0 is how it first came."""
    found = await versions_of(app.db, who.user.id, entry_id)
    return VersionPage.model_validate({"items": found}, from_attributes=True)


@router.get("/{entry_id:int}/difference", responses=described(404))
async def compare_revisions(
    app: TheApp, who: Reader, entry_id: PathId, old: Number = 0, new: Number = 1
) -> DifferenceShown:
    """What changed from one version of an entry to another, word by word."""
    found = await compare_versions(app.db, who.user.id, entry_id, old, new)
    return DifferenceShown.model_validate(found, from_attributes=True)


@router.get("/{entry_id:int}/original", response_class=PlainTextResponse, responses=described(404))
async def read_original(app: TheApp, who: Reader, entry_id: PathId) -> PlainTextResponse:
    """The HTML of an entry exactly as it first came, as plain text: it may hold anything."""
    return PlainTextResponse(await original_html(app.db, who.user.id, entry_id), headers=HARMLESS)
