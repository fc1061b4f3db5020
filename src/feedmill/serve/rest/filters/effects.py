"""What filters matched and did: `/api/filters/{id}/hits` and `/api/entries/{id}/effects`."""

from datetime import UTC, datetime
from typing import Annotated, Self

import msgspec
from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from feedmill.api_schemas.entries import EntryResponse
from feedmill.library.filters import effects as own
from feedmill.model.filters.entry_filter import FilterAction, FilterKind
from feedmill.model.filters.filter_history import FilterEffect
from feedmill.model.max_id import MAX_ID
from feedmill.serve.rest.core.dependencies import Reader, TheApp, Writer
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import PathId
from feedmill.serve.rest.core.page_parameters import Cursor, Limit

router = APIRouter(tags=["filters"])

TargetParameter = Annotated[
    int | None, Query(ge=1, le=MAX_ID, description="The label or the pool group, if the action is about one.")
]


class FilterHitResponse(BaseModel):
    entry: EntryResponse
    at: datetime = Field(description="When the filter matched it.")
    actions: list[FilterAction] = Field(description="What the filter did that is still so.")


class FilterHitPageResponse(BaseModel):
    items: list[FilterHitResponse]
    next: str | None


class FilterEffectResponse(BaseModel):
    action: FilterAction
    target_id: int | None = Field(description="The label or the pool group.")
    target_name: str | None
    filter_id: int
    filter_name: str
    filter_kind: FilterKind
    is_deleted: bool = Field(description="The filter was deleted since.")
    at: datetime
    can_undo: bool = Field(description="False for what was sent or fetched.")

    @classmethod
    def of(cls, effect: FilterEffect) -> Self:
        values = {name: getattr(effect, name) for name in cls.model_fields}
        return cls.model_validate(values | {"target_id": effect.target_id or None})


class FilterEffectPage(BaseModel):
    items: list[FilterEffectResponse]
    next: None = Field(default=None, description="Always null: there is one page.")


@router.get("/filters/{filter_id:int}/hits", response_model=FilterHitPageResponse, responses=problem_responses(404))
async def list_filter_hits(
    app: TheApp, who: Reader, filter_id: PathId, limit: Limit = 50, cursor: Cursor = None
) -> Response:
    """The entries that a filter matched, the newest first."""
    found = await own.hits_of_filter(app.db, who.user.id, filter_id, limit, cursor)
    return Response(msgspec.json.encode(found), media_type="application/json")


@router.get("/entries/{entry_id:int}/effects", responses=problem_responses(404))
async def list_effects(app: TheApp, who: Reader, entry_id: PathId) -> FilterEffectPage:
    """What your filters did to an entry, without what you changed yourself since."""
    found = await own.effects_of_entry(app.db, who.user.id, entry_id)
    return FilterEffectPage(items=[FilterEffectResponse.of(effect) for effect in found])


@router.delete("/entries/{entry_id:int}/effects/{action}", status_code=204, responses=problem_responses(404))
async def undo_effect(
    app: TheApp, who: Writer, entry_id: PathId, action: FilterAction, target_id: TargetParameter = None
) -> None:
    """Takes back what a filter did to an entry."""
    await own.undo_effect(app.db, who.user.id, entry_id, action, target_id or 0, datetime.now(UTC))
