"""The queue of bookmarks whose page is to be fetched: take, record the result, retry."""

from datetime import datetime
from typing import Any

from sqlalchemy import Integer, and_, bindparam, func, select

from feedmill.i18n.messages import message_to_stored
from feedmill.model.bookmark import Bookmark, BookmarkStatus, PageFetchFailed, PageMetadata
from feedmill.model.timestamps import iso_or_none, to_iso
from feedmill.store.bookmarks.bookmarks import to_bookmark
from feedmill.store.database import Database, Step
from feedmill.store.leases import Leases
from feedmill.store.schema import bookmarks

_of = bookmarks.c
_due = and_(_of.status == BookmarkStatus.PENDING, _of.next_attempt_at <= bindparam("now"))
WAITING = select(_of.id).where(_due).order_by(_of.next_attempt_at, _of.id).limit(bindparam("most", type_=Integer))
LEASES = Leases(bookmarks, _of.id, _due, WAITING, select(bookmarks).order_by(_of.id))
release_bookmarks = LEASES.release
_claimed = (_of.id == bindparam("bookmark"), _of.claim_token == bindparam("token"))
_found: dict[str, Any] = {
    "title": func.coalesce(_of.title, bindparam("found_title")),  # what a person wrote stays
    "description": bindparam("found_description"),
    "image_url": bindparam("found_image_url"),
}
FETCHED = (
    bookmarks.update()
    .where(*_claimed)
    .values(status=BookmarkStatus.FETCHED, attempts=_of.attempts + 1, next_attempt_at=None, claim_token=None)
    .values(last_error=None, fetched_at=bindparam("at"), **_found)
)
FAILED = (
    bookmarks.update()
    .where(*_claimed)
    .values(status=bindparam("to"), attempts=_of.attempts + bindparam("new_attempts", type_=Integer), claim_token=None)
    .values(next_attempt_at=bindparam("again_at"), last_error=bindparam("reason"))
)


async def take_bookmarks(db: Database, now: datetime, most: int) -> tuple[str, list[Bookmark]]:
    """Claims bookmarks with due pages; the token of the claim, and the bookmarks, which nobody else gets meanwhile."""
    token, rows = await LEASES.take(db, now, most=most)
    return token, [to_bookmark(row) for row in rows]


async def record_page_fetched(
    db: Database, bookmark_id: int, token: str, metadata: PageMetadata, now: datetime
) -> None:
    found = {f"found_{name}": getattr(metadata, name) for name in ("title", "description", "image_url")}
    await db.batch([Step(FETCHED, found | {"bookmark": bookmark_id, "token": token, "at": to_iso(now)})])


async def record_page_failed(db: Database, bookmark_id: int, token: str, missed: PageFetchFailed) -> None:
    values = {
        "bookmark": bookmark_id,
        "token": token,
        "to": BookmarkStatus.FAILED if missed.again_at is None else BookmarkStatus.PENDING,
        "new_attempts": int(missed.counted),
        "again_at": iso_or_none(missed.again_at),
        "reason": message_to_stored(missed.reason),
    }
    await db.batch([Step(FAILED, values)])
