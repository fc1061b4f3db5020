"""`/api/search` and `/api/searches`: searches entries and keeps saved searches."""

from datetime import UTC, datetime
from typing import Annotated

import msgspec
from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, StringConstraints

from feedmill.api_schemas.entries import SearchResultPage
from feedmill.library.search.query_tokens import MOST_CHARACTERS
from feedmill.library.search.run_search import SearchRequest, parse_search, run_search
from feedmill.library.search.saved_searches import create_saved_search, drop_saved_search, saved_searches_of_user
from feedmill.model.search_query import SavedSearch, SearchOrder
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.dependencies import Reader, TheApp, Writer
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import PathId, ShortText
from feedmill.serve.rest.core.page_parameters import Cursor, Limit

router = APIRouter(tags=["search"])

QueryParameter = Annotated[
    str, Query(max_length=MOST_CHARACTERS, description="Such as `chips -in:title:potato is:unread`.")
]
OrderParameter = Annotated[SearchOrder, Query(description="The best matches among the newest, or all by date.")]


class SaveSearchRequest(RequestBody):
    name: ShortText
    query: Annotated[str, StringConstraints(min_length=1, max_length=MOST_CHARACTERS, pattern=r"^[^\x00-\x1f\x7f]*$")]


class SavedSearchResponse(BaseModel):
    id: int
    name: str
    query: str


class SavedSearchPage(BaseModel):
    items: list[SavedSearchResponse]
    next: None = None


@router.get("/search", response_model=SearchResultPage)
async def search_entries(
    app: TheApp,
    who: Reader,
    q: QueryParameter,
    order: OrderParameter = "rank",
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Response:
    """Searches your feeds, and entries that you kept of others. A syntax error in `q` has its `position`."""
    found = await run_search(app.db, who.user.id, SearchRequest(q, order, cursor, limit), datetime.now(UTC))
    return Response(
        msgspec.json.encode(found), headers={"Cache-Control": "private, no-cache"}, media_type="application/json"
    )


@router.get("/searches")
async def list_searches(app: TheApp, who: Reader) -> SavedSearchPage:
    """Your saved searches."""
    found = await saved_searches_of_user(app.db, who.user.id)
    return SavedSearchPage(items=[_to_response(saved) for saved in found])


@router.post("/searches", status_code=201, responses=problem_responses(409))
async def create_search(app: TheApp, who: Writer, body: SaveSearchRequest) -> SavedSearchResponse:
    """Saves a search under a name."""
    await parse_search(app.db, who.user.id, body.query, datetime.now(UTC))
    return _to_response(await create_saved_search(app.db, who.user.id, body.name, body.query))


@router.delete("/searches/{search_id}", status_code=204, responses=problem_responses(404))
async def delete_search(app: TheApp, who: Writer, search_id: PathId) -> None:
    await drop_saved_search(app.db, who.user.id, search_id)


def _to_response(saved: SavedSearch) -> SavedSearchResponse:
    return SavedSearchResponse.model_validate(saved, from_attributes=True)
