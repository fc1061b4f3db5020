"""Marks entries as read, starred or for later: one, many or a whole list; undo; playback; fetching the full text."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import msgspec
from fastapi import APIRouter, Path
from fastapi.responses import Response

from feedmill.api_schemas.entries import ArticleResponse, EntryResponse, MarkAllReadResponse, PlaybackPositionResponse
from feedmill.library.entries.article import read_article
from feedmill.library.entries.full_text import fetch_full_text
from feedmill.library.entries.list_entries import entry_summaries
from feedmill.library.entries.marks import apply_marks, apply_marks_to_entry, mark_all_read, undo_mark_all_read
from feedmill.library.entries.playback import save_position
from feedmill.library.entries.scopes import find_scope
from feedmill.model.entry_marks import MarkAllRead
from feedmill.model.playback import PlaybackPosition
from feedmill.serve.rest.core.dependencies import TheApp, Writer
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import PathId
from feedmill.serve.rest.entries.change_schemas import (
    BulkChangeResponse,
    BulkEntryChanges,
    EntryChanges,
    MarkAllReadRequest,
    PlaybackPositionRequest,
    UndoRequest,
)

EnclosureNumber = Annotated[int, Path(ge=0, le=999)]

router = APIRouter(prefix="/entries", tags=["entries"])


@router.patch("/{entry_id:int}", responses=problem_responses(404))
async def mark_entry(app: TheApp, who: Writer, entry_id: PathId, changes: EntryChanges) -> EntryResponse:
    """Marks an entry as read, starred or read later, or removes the mark."""
    await apply_marks_to_entry(
        app.db, who.user.id, entry_id, changes.marks(), datetime.now(UTC), app.settings.later_for
    )
    [entry] = await entry_summaries(app.db, who.user.id, [entry_id])
    return EntryResponse.model_validate(entry, from_attributes=True)


@router.post("/{entry_id}/full-text", response_model=ArticleResponse, responses=problem_responses(404, 409))
async def fetch_entry_full_text(app: TheApp, who: Writer, entry_id: PathId, again: bool = False) -> Response:
    """Fetches the page of an entry and stores its article; a stored one is not fetched again."""
    now = datetime.now(UTC)
    await fetch_full_text(app.db, app.client, who.user.id, entry_id, now, again=again)
    article = await read_article(app.db, app.blobs, who.user.id, entry_id, now)
    return Response(msgspec.json.encode(article), media_type="application/json")


@router.put("/{entry_id:int}/enclosures/{number}/position", responses=problem_responses(404))
async def save_playback_position(
    app: TheApp, who: Writer, entry_id: PathId, number: EnclosureNumber, asked: PlaybackPositionRequest
) -> PlaybackPositionResponse:
    """Saves how far you have played an enclosure (number 0 is the first), and returns the position that holds now."""
    now = datetime.now(UTC)
    position = PlaybackPosition(entry_id, number, asked.seconds, asked.played_at or now)
    held = await save_position(app.db, who.user.id, position, now)
    return PlaybackPositionResponse(seconds=held.seconds, played_at=held.played_at)


@router.post("/mark", responses=problem_responses(404))
async def mark_entries(app: TheApp, who: Writer, changes: BulkEntryChanges) -> BulkChangeResponse:
    """Marks or labels many entries at once; repeating it changes nothing."""
    now, later_for = datetime.now(UTC), app.settings.later_for
    done = await apply_marks(app.db, who.user.id, changes.ids, changes.marks(), now, later_for)
    return BulkChangeResponse(ids=done.ids, missing=done.missing)


@router.post("/mark-all", responses=problem_responses(404))
async def mark_all_entries_read(app: TheApp, who: Writer, asked: MarkAllReadRequest) -> MarkAllReadResponse:
    """Marks unread entries of a feed, a folder, a label or `everything` as read; only older ones if an age is given."""
    now = datetime.now(UTC)
    scope = await find_scope(app.db, who.user.id, asked.feed_id, asked.folder_id, asked.label_id)
    before = None if asked.older_than_days is None else now - timedelta(days=asked.older_than_days)
    wanted = MarkAllRead(scope, before, asked.up_to, whole_stories=asked.whole_stories)
    result = await mark_all_read(app.db, who.user.id, wanted, now)
    return MarkAllReadResponse(marked=result.marked, undo=result.undo)


@router.post("/undo", status_code=204, responses=problem_responses(404))
async def undo_mark_all(app: TheApp, who: Writer, asked: UndoRequest) -> None:
    """Undoes a mark-all: entries become unread again, except those that were read since."""
    await undo_mark_all_read(app.db, who.user.id, asked.undo, datetime.now(UTC))
