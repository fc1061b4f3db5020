"""`/api/bookmarks`: saves, lists, changes and deletes bookmarks."""

from datetime import datetime
from typing import Annotated, Self

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field, StringConstraints

from feedmill.api_schemas.response_body import MessageText
from feedmill.library.cursors import from_cursor, to_cursor
from feedmill.model.bookmark import Bookmark, BookmarkStatus
from feedmill.model.entry_lists import ListPosition
from feedmill.model.timestamps import to_iso
from feedmill.serve.http.paginate import split_page
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.dependencies import Reader, TheApp, Writer
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import LongText, PathId, UrlText
from feedmill.serve.rest.core.page_parameters import Cursor, Limit

router = APIRouter(prefix="/bookmarks", tags=["bookmarks"])

BookmarkTitle = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500, pattern=r"^[^\x00]*$")
]


class NewBookmark(RequestBody):
    url: UrlText
    title: BookmarkTitle | None = Field(default=None, description="By default the page's own, once it was fetched.")
    note: LongText | None = None


class BookmarkChanges(RequestBody):
    """Fields that are left out are not changed."""

    title: BookmarkTitle | None = None
    note: LongText | None = None


class BookmarkResponse(BaseModel):
    id: int
    url: str
    title: str | None = Field(description="Your title, or else the page's; null until it was fetched.")
    description: str | None
    image_url: str | None = Field(description="The URL of the image in the page's metadata.")
    note: str | None
    status: BookmarkStatus
    attempts: int
    last_error: MessageText | None = Field(description="Why the page could not be fetched.")
    created_at: datetime
    fetched_at: datetime | None

    @classmethod
    def of(cls, bookmark: Bookmark) -> Self:
        return cls.model_validate({name: getattr(bookmark, name) for name in cls.model_fields})


class BookmarkPage(BaseModel):
    items: list[BookmarkResponse]
    next: str | None


@router.get("")
async def list_bookmarks(app: TheApp, who: Reader, limit: Limit = 50, cursor: Cursor = None) -> BookmarkPage:
    """Your bookmarks, the newest first."""
    place = from_cursor(cursor) if cursor is not None else None
    page, last = split_page(await app.bookmarks.page(who.user.id, place, limit + 1), limit)
    following = to_cursor(ListPosition(to_iso(last.created_at), last.id)) if last else None
    return BookmarkPage(items=[BookmarkResponse.of(one) for one in page], next=following)


@router.post("", status_code=201, responses={200: {"model": BookmarkResponse, "description": "It was there already"}})
async def save_bookmark(app: TheApp, who: Writer, new: NewBookmark, response: Response) -> BookmarkResponse:
    """Saves a page; its title and description are fetched within seconds. Saving it again changes nothing (200)."""
    saved, is_new = await app.bookmarks.save(who.user.id, new.url, new.title, new.note)
    response.status_code = 201 if is_new else 200
    return BookmarkResponse.of(saved)


@router.get("/{bookmark_id}", responses=problem_responses(404))
async def read_bookmark(app: TheApp, who: Reader, bookmark_id: PathId) -> BookmarkResponse:
    return BookmarkResponse.of(await app.bookmarks.one(who.user.id, bookmark_id))


@router.patch("/{bookmark_id}", responses=problem_responses(404))
async def change_bookmark(app: TheApp, who: Writer, bookmark_id: PathId, changes: BookmarkChanges) -> BookmarkResponse:
    """Changes the title or the note; null removes it."""
    changed = await app.bookmarks.change(who.user.id, bookmark_id, changes.model_dump(exclude_unset=True))
    return BookmarkResponse.of(changed)


@router.delete("/{bookmark_id}", status_code=204, responses=problem_responses(404))
async def delete_bookmark(app: TheApp, who: Writer, bookmark_id: PathId) -> None:
    await app.bookmarks.delete(who.user.id, bookmark_id)


@router.post("/{bookmark_id}/retry", status_code=202, responses=problem_responses(404))
async def retry_bookmark(app: TheApp, who: Writer, bookmark_id: PathId) -> BookmarkResponse:
    """Fetches a failed page again; changes nothing for any other."""
    return BookmarkResponse.of(await app.bookmarks.retry(who.user.id, bookmark_id))
