"""`GET /api/feeds/{subscription_id}/fetches`: the fetch log of a feed."""

from fastapi import APIRouter

from feedmill.api_schemas.feeds import FetchPage, FetchResponse
from feedmill.library.cursors import from_cursor, to_cursor
from feedmill.library.feeds.health import fetch_log_page
from feedmill.serve.http.paginate import split_page
from feedmill.serve.rest.core.dependencies import Reader, TheApp
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import PathId
from feedmill.serve.rest.core.page_parameters import Cursor, Limit

router = APIRouter(prefix="/feeds", tags=["feeds"])


@router.get("/{subscription_id:int}/fetches", responses=problem_responses(404))
async def list_fetches(
    app: TheApp, who: Reader, subscription_id: PathId, cursor: Cursor = None, limit: Limit = 50
) -> FetchPage:
    """The fetches of a feed in the last 30 days, the newest first."""
    position = from_cursor(cursor) if cursor is not None else None
    found = await fetch_log_page(app.db, who.user.id, subscription_id, position, limit + 1)
    page, last = split_page(found, limit)
    items = [FetchResponse.model_validate(line, from_attributes=True) for _, line in page]
    return FetchPage(items=items, next=to_cursor(last[0]) if last else None)
