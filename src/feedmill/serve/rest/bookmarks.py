"""`/api/bookmarks`: pages saved by their address."""

from datetime import datetime
from typing import Annotated, Self

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from feedmill.library.cursors import from_cursor, to_cursor
from feedmill.model.bookmark import Bookmark, BookmarkStatus
from feedmill.model.reading import Place
from feedmill.model.times import to_text
from feedmill.serve.rest.cursors import Cursor, Limit, cut
from feedmill.serve.rest.fields import Address, PathId, Text
from feedmill.serve.rest.parts import Reader, TheApp, Writer
from feedmill.serve.rest.problems import described

router = APIRouter(prefix="/bookmarks", tags=["bookmarks"])

Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500, pattern=r"^[^\x00]*$")]


class NewBookmark(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: Address
    title: Title | None = Field(default=None, description="Else the page's own, once it was fetched.")
    note: Text | None = None


class BookmarkChanges(BaseModel):
    """What is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    title: Title | None = None
    note: Text | None = None


class BookmarkShown(BaseModel):
    id: int
    url: str
    title: str | None = Field(description="Yours, else the page's; null until it was fetched.")
    description: str | None
    image_url: str | None = Field(description="The picture that the page names, at its own address.")
    note: str | None
    status: BookmarkStatus
    attempts: int
    last_error: str | None = Field(description="Why the page could not be fetched.")
    created_at: datetime
    fetched_at: datetime | None

    @classmethod
    def of(cls, bookmark: Bookmark) -> Self:
        return cls.model_validate({name: getattr(bookmark, name) for name in cls.model_fields})


class BookmarkPage(BaseModel):
    items: list[BookmarkShown]
    next: str | None


@router.get("")
async def list_bookmarks(app: TheApp, who: Reader, limit: Limit = 50, cursor: Cursor = None) -> BookmarkPage:
    """Your bookmarks, the newest first."""
    place = from_cursor(cursor) if cursor is not None else None
    page, last = cut(await app.bookmarks.page(who.user.id, place, limit + 1), limit)
    following = to_cursor(Place(to_text(last.created_at), last.id)) if last else None
    return BookmarkPage(items=[BookmarkShown.of(one) for one in page], next=following)


@router.post("", status_code=201, responses={200: {"model": BookmarkShown, "description": "It was there already"}})
async def save_bookmark(app: TheApp, who: Writer, new: NewBookmark, response: Response) -> BookmarkShown:
    """Saves a page; what it is about is fetched within seconds. Saving it again changes nothing (200)."""
    saved, is_new = await app.bookmarks.save(who.user.id, new.url, new.title, new.note)
    response.status_code = 201 if is_new else 200
    return BookmarkShown.of(saved)


@router.get("/{bookmark_id}", responses=described(404))
async def read_bookmark(app: TheApp, who: Reader, bookmark_id: PathId) -> BookmarkShown:
    return BookmarkShown.of(await app.bookmarks.one(who.user.id, bookmark_id))


@router.patch("/{bookmark_id}", responses=described(404))
async def change_bookmark(app: TheApp, who: Writer, bookmark_id: PathId, changes: BookmarkChanges) -> BookmarkShown:
    """Changes the title or the note; null takes it away."""
    changed = await app.bookmarks.change(who.user.id, bookmark_id, changes.model_dump(exclude_unset=True))
    return BookmarkShown.of(changed)


@router.delete("/{bookmark_id}", status_code=204, responses=described(404))
async def delete_bookmark(app: TheApp, who: Writer, bookmark_id: PathId) -> None:
    await app.bookmarks.delete(who.user.id, bookmark_id)


@router.post("/{bookmark_id}/retry", status_code=202, responses=described(404))
async def retry_bookmark(app: TheApp, who: Writer, bookmark_id: PathId) -> BookmarkShown:
    """Has a page that was given up fetched again; changes nothing for one that was not."""
    return BookmarkShown.of(await app.bookmarks.retry(who.user.id, bookmark_id))
