"""Adds, reads, changes and removes bookmarks."""

from datetime import datetime
from secrets import token_hex

from sqlalchemy import Integer, bindparam, or_, select

from feedmill.i18n.messages import message_or_none
from feedmill.model.bookmark import Bookmark, BookmarkStatus
from feedmill.model.entry_lists import ListPosition
from feedmill.model.timestamps import datetime_or_none, from_iso, to_iso
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert_new
from feedmill.store.schema import bookmarks

END_OF_TIME = "9999"

_of = bookmarks.c
_of_owner = (_of.id == bindparam("bookmark"), _of.user_id == bindparam("owner"))

ADD = insert_new(bookmarks, "user_id", "url", "title", "note", "claim_token", "next_attempt_at", "created_at")
BY_URL = select(bookmarks).where(_of.user_id == bindparam("owner"), _of.url == bindparam("url"))
ONE = select(bookmarks).where(*_of_owner)
PAGE = (
    select(bookmarks)
    .where(
        _of.user_id == bindparam("owner"),
        _of.created_at <= bindparam("at"),
        or_(_of.created_at < bindparam("at"), _of.id < bindparam("before")),
    )
    .order_by(_of.created_at.desc(), _of.id.desc())
    .limit(bindparam("most", type_=Integer))
)
CHANGE = bookmarks.update().where(*_of_owner).values(title=bindparam("title"), note=bindparam("note"))
DROP = bookmarks.delete().where(*_of_owner)
RETRY = (
    bookmarks.update()
    .where(*_of_owner, _of.status == BookmarkStatus.FAILED)
    .values(status=BookmarkStatus.PENDING, attempts=0, next_attempt_at=bindparam("at"), claim_token=None)
)


async def add_bookmark(
    db: Database, user_id: int, url: str, title: str | None, note: str | None, now: datetime
) -> tuple[Bookmark, bool]:
    """Adds a bookmark unless the user has one of that URL; the bookmark, and whether it is new."""
    at, mark = to_iso(now), token_hex(16)
    row = {"user_id": user_id, "url": url, "title": title, "note": note, "claim_token": mark}
    await db.batch([Step(ADD, row | {"next_attempt_at": at, "created_at": at})])
    [found] = await db.query(BY_URL, {"owner": user_id, "url": url})
    return to_bookmark(found), found["claim_token"] == mark


async def bookmark_of(db: Database, user_id: int, bookmark_id: int) -> Bookmark | None:
    """The user's bookmark of that id; None also when it is somebody else's."""
    rows = await db.query(ONE, {"owner": user_id, "bookmark": bookmark_id})
    return to_bookmark(rows[0]) if rows else None


async def bookmarks_before(db: Database, user_id: int, position: ListPosition | None, most: int) -> list[Bookmark]:
    """The user's bookmarks after that position in the list, the newest first."""
    at, before = (position.at, position.entry_id) if position else (END_OF_TIME, 0)
    rows = await db.query(PAGE, {"owner": user_id, "at": at, "before": before, "most": most})
    return [to_bookmark(row) for row in rows]


async def save_bookmark(db: Database, bookmark: Bookmark) -> None:
    """Saves the title and note of a bookmark."""
    key = {"owner": bookmark.user_id, "bookmark": bookmark.id}
    await db.batch([Step(CHANGE, key | {"title": bookmark.title, "note": bookmark.note})])


async def drop_bookmark(db: Database, user_id: int, bookmark_id: int) -> bool:
    return await db.batch([Step(DROP, {"owner": user_id, "bookmark": bookmark_id})]) == [1]


async def retry_bookmark(db: Database, user_id: int, bookmark_id: int, now: datetime) -> None:
    """Makes a failed page due again; changes no other bookmark."""
    await db.batch([Step(RETRY, {"owner": user_id, "bookmark": bookmark_id, "at": to_iso(now)})])


def to_bookmark(row: Row) -> Bookmark:
    same = ("id", "user_id", "url", "title", "description", "image_url", "note", "attempts")
    return Bookmark(
        **{name: row[name] for name in same},
        last_error=message_or_none(row["last_error"]),
        status=BookmarkStatus(row["status"]),
        created_at=from_iso(row["created_at"]),
        fetched_at=datetime_or_none(row["fetched_at"]),
    )
