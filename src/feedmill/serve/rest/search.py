"""`/api/search`: entries found by the search language; `/api/searches`: searches that you keep."""

from datetime import UTC, datetime
from typing import Annotated

import msgspec
from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from feedmill.errors import NotFound
from feedmill.library.search import Asked, keep_search, read_search, search
from feedmill.library.search_tokens import MOST_CHARACTERS
from feedmill.model.search import Order
from feedmill.serve.rest.cursors import Cursor, Limit
from feedmill.serve.rest.entry_forms import EntryShown
from feedmill.serve.rest.fields import Line, PathId
from feedmill.serve.rest.parts import Reader, TheApp, Writer
from feedmill.serve.rest.problems import described
from feedmill.store.saved_searches import drop_search, saved_searches_of

router = APIRouter(tags=["search"])

Searched = Annotated[str, Query(max_length=MOST_CHARACTERS, description="Such as `chips -in:title:potato is:unread`.")]
Ordered = Annotated[Order, Query(description="What fits best of the newest, or all by date.")]


class FoundPage(BaseModel):
    items: list[EntryShown]
    next: str | None = Field(description="The `cursor` of the next page; none on the last.")


class SearchAsked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Line
    query: Annotated[str, StringConstraints(min_length=1, max_length=MOST_CHARACTERS, pattern=r"^[^\x00-\x1f\x7f]*$")]


class SearchShown(BaseModel):
    id: int
    name: str
    query: str


class SearchPage(BaseModel):
    items: list[SearchShown]
    next: None = None


@router.get("/search", response_model=FoundPage)
async def search_entries(
    app: TheApp, who: Reader, q: Searched, order: Ordered = "rank", cursor: Cursor = None, limit: Limit = 50
) -> Response:
    """Entries of your feeds, and what you keep of others. A mistake in `q` is answered with its `position`."""
    found = await search(app.db, who.user.id, Asked(q, order, cursor, limit), datetime.now(UTC))
    return Response(
        msgspec.json.encode(found), headers={"Cache-Control": "private, no-cache"}, media_type="application/json"
    )


@router.get("/searches")
async def list_searches(app: TheApp, who: Reader) -> SearchPage:
    """The searches that you keep."""
    found = await saved_searches_of(app.db, who.user.id)
    return SearchPage(items=[SearchShown.model_validate(dict(one)) for one in found])


@router.post("/searches", status_code=201, responses=described(409))
async def create_search(app: TheApp, who: Writer, asked: SearchAsked) -> SearchShown:
    """Keeps a search under a name."""
    await read_search(app.db, who.user.id, asked.query, datetime.now(UTC))
    return SearchShown.model_validate(dict(await keep_search(app.db, who.user.id, asked.name, asked.query)))


@router.delete("/searches/{search_id}", status_code=204, responses=described(404))
async def delete_search(app: TheApp, who: Writer, search_id: PathId) -> None:
    if not await drop_search(app.db, who.user.id, search_id):
        raise NotFound("there is no such search")
