"""What is done with entries: one, many, or all of a list."""

from datetime import UTC, datetime, timedelta

import msgspec
from fastapi import APIRouter
from fastapi.responses import Response

from feedmill.library.article import read_article
from feedmill.library.full_text import fetch_full_text
from feedmill.library.marking import mark, mark_all_read, mark_one, take_back
from feedmill.library.reading import listed
from feedmill.library.scopes import find_scope
from feedmill.model.reading import Sweep
from feedmill.serve.rest.entry_forms import (
    ArticleShown,
    EntryChanges,
    EntryShown,
    ManyChanges,
    MarkedShown,
    SweepAsked,
    SweptShown,
    UndoAsked,
)
from feedmill.serve.rest.fields import PathId
from feedmill.serve.rest.parts import TheApp, Writer
from feedmill.serve.rest.problems import described

router = APIRouter(prefix="/entries", tags=["entries"])


@router.patch("/{entry_id:int}", responses=described(404))
async def mark_entry(app: TheApp, who: Writer, entry_id: PathId, changes: EntryChanges) -> EntryShown:
    """Reads, stars or keeps an entry for later, or takes that back."""
    await mark_one(app.db, who.user.id, entry_id, changes.marks(), datetime.now(UTC), app.settings.later_for)
    [entry] = await listed(app.db, who.user.id, [entry_id])
    return EntryShown.model_validate(entry, from_attributes=True)


@router.post("/{entry_id}/full-text", response_model=ArticleShown, responses=described(404, 409))
async def fetch_entry_in_full(app: TheApp, who: Writer, entry_id: PathId, again: bool = False) -> Response:
    """Fetches the page that an entry links to and keeps its article; what is kept already is not fetched again."""
    now = datetime.now(UTC)
    await fetch_full_text(app.db, app.client, who.user.id, entry_id, now, again=again)
    article = await read_article(app.db, app.blobs, who.user.id, entry_id, now)
    return Response(msgspec.json.encode(article), media_type="application/json")


@router.post("/mark", responses=described(404))
async def mark_entries(app: TheApp, who: Writer, changes: ManyChanges) -> MarkedShown:
    """The same with many entries at once, and labels; doing it again changes nothing."""
    now, later_for = datetime.now(UTC), app.settings.later_for
    done = await mark(app.db, who.user.id, changes.ids, changes.marks(), now, later_for)
    return MarkedShown(ids=done.ids, missing=done.missing)


@router.post("/mark-all", responses=described(404))
async def mark_all_entries_read(app: TheApp, who: Writer, asked: SweepAsked) -> SweptShown:
    """Marks read what is unread: all of it, or of a feed, a folder, a label, an age."""
    now = datetime.now(UTC)
    scope = await find_scope(app.db, who.user.id, asked.feed_id, asked.folder_id, asked.label_id)
    before = None if asked.older_than_days is None else now - timedelta(days=asked.older_than_days)
    swept = await mark_all_read(app.db, who.user.id, Sweep(scope, before, asked.up_to), now)
    return SweptShown(marked=swept.marked, undo=swept.undo)


@router.post("/undo", status_code=204, responses=described(404))
async def undo_mark_all(app: TheApp, who: Writer, asked: UndoAsked) -> None:
    """Makes unread again what was marked, but for what was read by itself since."""
    await take_back(app.db, who.user.id, asked.undo, datetime.now(UTC))
