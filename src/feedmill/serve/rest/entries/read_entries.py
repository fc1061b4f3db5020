"""`/api/entries`: lists entries, reads one with its revisions, exports the starred ones."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import PlainTextResponse, Response, StreamingResponse

from feedmill.api_schemas.entries import ArticleResponse, EntryPage, NewEntryPage
from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.cursors import from_list_cursor
from feedmill.library.entries.article import read_article
from feedmill.library.entries.export_starred import MEDIA_TYPE, export_starred
from feedmill.library.entries.list_entries import EntryListQuery, list_entries, list_raised
from feedmill.library.entries.new_entries import new_entries
from feedmill.library.entries.revisions import diff_revisions, original_html, revisions_of
from feedmill.library.entries.sync_cursor import decode_cursor, encode_cursor, first_cursor
from feedmill.model.entry_lists import EntryView
from feedmill.serve.rest.core.conditional_responses import NO_CACHE, UNCHANGED, answer_unless_known, json_answer
from feedmill.serve.rest.core.dependencies import Reader, TheApp
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import PathId
from feedmill.serve.rest.core.page_parameters import Cursor, Limit
from feedmill.serve.rest.entries.requested_lists import LIST_PARAMETERS, RaisedShown, RequestedList, Since
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


RevisionNumber = Annotated[int, Query(ge=0, le=1000)]
SANDBOXED = NO_CACHE | {"Content-Security-Policy": "default-src 'none'; sandbox", "X-Content-Type-Options": "nosniff"}


@router.get("", response_model=EntryPage | NewEntryPage, responses=problem_responses(404) | UNCHANGED)
async def list_entries_of_view(
    request: Request,
    app: TheApp,
    who: Reader,
    query: RequestedList,
    cursor: Cursor = None,
    limit: Limit = 50,
    since: Since | None = None,
    raised: RaisedShown = "in_place",
) -> Response:
    """Entries of a view, page by page; entries that arrive in the meantime do not shift pages.

    With `since` alone: the entries of all your feeds that came since then, in the order in which they were stored.
    """
    if since is not None:
        return await _entries_since(request, app, who, since, limit)
    page_query = _page_query(query, cursor, limit)
    read_page = list_raised if raised == "only" and query.view is EntryView.UNREAD else list_entries
    page = await read_page(app.db, who.user.id, page_query, datetime.now(UTC))
    # Not of `as_of`, which other people's entries move: an older one is as good.
    return answer_unless_known(request, page, (page.items, page.next, page.raised_count))


def _page_query(query: EntryListQuery, cursor: str | None, limit: int) -> EntryListQuery:
    query = replace(query, most=limit, raised_first=min(query.raised_first, limit))
    if cursor is None:
        return query
    last = from_list_cursor(cursor)
    return replace(query, beyond=last.position, raised=last.raised)


async def _entries_since(request: Request, app: TheApp, who: Reader, since: str, limit: int) -> Response:
    if unused := LIST_PARAMETERS.intersection(request.query_params):
        raise BadInput(Message("error.not_with_since", name=min(unused)), min(unused))
    now = datetime.now(UTC)
    cursor = decode_cursor(since) if since else first_cursor(now)
    new = await new_entries(app.db, who.user.id, cursor, limit, now)
    return json_answer({"items": new.items, "since": encode_cursor(new.cursor), "more": new.more})


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
    return json_answer(article)


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
