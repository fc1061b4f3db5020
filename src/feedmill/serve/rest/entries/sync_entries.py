"""`/api/entries/ids`, `/changes` and `/texts`: for programs that keep a copy of a user's entries."""

from datetime import UTC, datetime
from typing import Annotated

import msgspec
from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from feedmill.api_schemas.entries import EntryChangePage, EntryIdPage, EntryMarksResponse, EntryTextPage
from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.cursors import BadCursor, cursor_at, key_at
from feedmill.library.entries.changed_entries import changes_since
from feedmill.library.entries.entry_texts import entry_texts
from feedmill.library.entries.list_entry_ids import entry_ids
from feedmill.library.entries.sync_cursor import BadSyncCursor, decode_cursor, encode_cursor
from feedmill.model.max_id import MAX_ID
from feedmill.serve.rest.core.conditional_responses import UNCHANGED, answer_unless_known, json_answer
from feedmill.serve.rest.core.dependencies import Reader, TheApp
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.page_parameters import Cursor
from feedmill.serve.rest.entries.requested_lists import RequestedList, Since

MOST_IDS = 100_000
MOST_TEXTS = 200
MARKS = tuple(EntryMarksResponse.model_fields)

ListedIds = Annotated[str, Query(max_length=4000, pattern=r"^\d{1,16}(,\d{1,16})*$", description="With commas.")]

router = APIRouter(prefix="/entries", tags=["entries"])


@router.get("/ids", response_model=EntryIdPage, responses=problem_responses(404) | UNCHANGED)
async def list_ids_of_view(
    request: Request,
    app: TheApp,
    who: Reader,
    query: RequestedList,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=MOST_IDS, description="The maximum number.")] = MOST_IDS,
) -> Response:
    """The ids of all entries of a view, ascending; `order` does not matter."""
    after = 0 if cursor is None else _after(cursor)
    found = await entry_ids(app.db, who.user.id, query.view, query.scope, after, limit, datetime.now(UTC))
    following = None if found.next_id is None else cursor_at(found.next_id)
    page = {"ids": found.ids, "next": following, "since": encode_cursor(found.cursor)}
    # Not of `since`: an older one is as good.
    return answer_unless_known(request, page, (found.ids, following))


@router.get("/changes", response_model=EntryChangePage)
async def list_changes(app: TheApp, who: Reader, since: Since) -> Response:
    """Which of your entries were marked, unmarked or labelled since then, and which are gone."""
    if not since:
        raise BadSyncCursor
    found = await changes_since(app.db, who.user.id, decode_cursor(since), datetime.now(UTC))
    items = [{name: getattr(entry, name) for name in MARKS} for entry in found.items]
    rest = {name: getattr(found, name) for name in ("gone", "subscription_ids", "unread_changed", "more")}
    return json_answer({"items": items, **rest, "since": encode_cursor(found.cursor)})


@router.get("/texts", response_model=EntryTextPage)
async def read_texts(app: TheApp, who: Reader, ids: ListedIds) -> Response:
    """Up to 200 entries with their texts, in this order; those that do not exist are left out."""
    listed = [int(id) for id in ids.split(",")]
    if len(listed) > MOST_TEXTS:
        raise BadInput(Message("error.too_many_ids", most=MOST_TEXTS), "ids")
    found = await entry_texts(app.db, app.blobs, who.user.id, [id for id in listed if id <= MAX_ID])
    items = [msgspec.structs.asdict(each.entry) | {"html": each.html} for each in found]
    return json_answer({"items": items, "next": None})


def _after(cursor: str) -> int:
    try:
        return key_at(cursor, int)
    except BadCursor:
        raise BadSyncCursor from None
