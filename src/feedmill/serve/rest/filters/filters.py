"""`/api/filters`, `/api/mutes`, `/api/follows`: lists, creates, changes, orders and deletes them."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query

from feedmill.library.filters import manage_filters as own
from feedmill.library.filters.mutes import change_until, follow, mute
from feedmill.model.filters.entry_filter import FilterKind
from feedmill.serve.rest.core.dependencies import Reader, TheApp, Writer
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import PathId
from feedmill.serve.rest.filters.schemas import (
    FilterChanges,
    FilterOrder,
    FilterPage,
    FilterResponse,
    NewFilter,
    NewMute,
)

router = APIRouter(tags=["filters"])


@router.get("/filters")
async def list_filters(
    app: TheApp, who: Reader, kind: Annotated[FilterKind | None, Query(description="Only these.")] = None
) -> FilterPage:
    """Your filters, mutes and follows, in their order."""
    found = await own.filters_of_user(app.db, who.user.id, kind)
    return FilterPage(items=[FilterResponse.of(each) for each in found])


@router.post("/filters", status_code=201, responses=problem_responses(404))
async def create_filter(app: TheApp, who: Writer, new: NewFilter) -> FilterResponse:
    """Creates a filter for entries that arrive from now on. An error in the condition has its `position`."""
    return FilterResponse.of(await own.create_filter(app.db, who, new.draft(), datetime.now(UTC)))


@router.put("/filters/order", status_code=204, responses=problem_responses(404))
async def order_filters(app: TheApp, who: Writer, order: FilterOrder) -> None:
    """Puts these filters first, in this order."""
    await own.order_filters(app.db, who.user.id, order.ids)


@router.get("/filters/{filter_id:int}", responses=problem_responses(404))
async def read_filter(app: TheApp, who: Reader, filter_id: PathId) -> FilterResponse:
    return FilterResponse.of(await own.find_filter(app.db, who.user.id, filter_id))


@router.patch("/filters/{filter_id:int}", responses=problem_responses(404))
async def change_filter(app: TheApp, who: Writer, filter_id: PathId, changes: FilterChanges) -> FilterResponse:
    """Changes a filter for entries that arrive from now on. What it did stays as it is."""
    now = datetime.now(UTC)
    before = await own.find_filter(app.db, who.user.id, filter_id)
    # A filter can be turned off also if its label or folder is gone.
    is_switch = changes.model_fields_set == {"enabled"}
    if not is_switch and (before.kind is FilterKind.FILTER or not changes.is_about_mutes):
        return FilterResponse.of(await own.change_filter(app.db, who, filter_id, changes.draft(before), now))
    if "expires_at" in changes.model_fields_set:
        await change_until(app.db, who.user.id, filter_id, changes.expires_at, now)
    if changes.enabled is not None:
        await own.enable_filter(app.db, who.user.id, filter_id, now, enabled=changes.enabled)
    return FilterResponse.of(await own.find_filter(app.db, who.user.id, filter_id))


@router.delete("/filters/{filter_id:int}", status_code=204, responses=problem_responses(404))
async def delete_filter(
    app: TheApp,
    who: Writer,
    filter_id: PathId,
    revert: Annotated[bool, Query(description="Takes back what it did, as a job.")] = False,
) -> None:
    """Deletes a filter, a mute or a follow. Without `revert`, what it did stays as it is."""
    await own.delete_filter(app.db, who.user.id, filter_id, datetime.now(UTC), revert=revert)


@router.post("/mutes", status_code=201, responses=problem_responses(404))
async def create_mute(app: TheApp, who: Writer, new: NewMute) -> FilterResponse:
    """Hides new entries with a word, of an author or of a site from unread lists; the same again changes until when."""
    return FilterResponse.of((await mute(app.db, who.user.id, new.subject(), datetime.now(UTC), new.period())).filter)


@router.post("/follows", status_code=201, responses=problem_responses(404))
async def create_follow(app: TheApp, who: Writer, new: NewMute) -> FilterResponse:
    """Shows new entries with a word, of an author or of a site first; the same again changes until when."""
    return FilterResponse.of((await follow(app.db, who.user.id, new.subject(), datetime.now(UTC), new.period())).filter)
