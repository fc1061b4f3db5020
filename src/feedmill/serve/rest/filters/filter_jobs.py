"""Tries filters, applies them to stored entries, reverts what they did: `/api/filters/…` and `/api/filter-jobs`."""

from datetime import UTC, datetime
from typing import Literal, Self

import msgspec
from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import BaseModel, Field

from feedmill.api_schemas.entries import EntryResponse
from feedmill.api_schemas.response_body import MessageText
from feedmill.errors import Conflict
from feedmill.i18n.messages import Message
from feedmill.library.filters import filter_jobs as own
from feedmill.library.filters.try_filter import try_filter
from feedmill.model.filters.filter_history import FilterJob
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.dependencies import Reader, TheApp, Writer
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import PathId
from feedmill.serve.rest.filters.schemas import Condition, ScopeRequest

router = APIRouter(tags=["filters"])


class FilterJobEnded(Conflict):
    """There is nothing left to cancel."""

    code = "filter_job_ended"


class TrialRequest(RequestBody):
    condition: Condition
    scope: ScopeRequest = ScopeRequest()


class FeedMatchesResponse(BaseModel):
    subscription_id: int | None
    title: str | None
    count: int


class TrialResponse(BaseModel):
    total: int
    is_complete: bool = Field(description="Otherwise time was up, and only entries since `oldest_at` are counted.")
    oldest_at: datetime | None
    looked_at: int = Field(description="How many entries were read, because the index can't answer the condition.")
    feeds: list[FeedMatchesResponse] = Field(description="Those with the most matches first.")
    entries: list[EntryResponse] = Field(description="The newest hundred.")


class FilterJobResponse(BaseModel):
    id: int
    filter_id: int
    filter_name: str
    kind: Literal["apply", "undo", "revert"]
    status: Literal["running", "done", "cancelled", "failed"]
    total: int = Field(description="How many entries there are to look at; 0 until it is known.")
    looked_at: int
    changed: int
    undoes_job_id: int | None
    can_undo: bool
    can_start_again: bool
    created_at: datetime
    finished_at: datetime | None
    last_error: MessageText | None = Field(
        description="Why it failed or was cancelled, or why its last attempt failed."
    )

    @classmethod
    def of(cls, job: FilterJob) -> Self:
        return cls.model_validate({name: getattr(job, name) for name in cls.model_fields})


class FilterJobPage(BaseModel):
    items: list[FilterJobResponse]
    next: None = Field(default=None, description="Always null: there is one page.")


@router.post("/filters/try", response_model=TrialResponse, responses=problem_responses(404))
async def try_new_filter(app: TheApp, who: Reader, body: TrialRequest) -> Response:
    """What a filter with this condition would have matched among all stored entries. It changes nothing."""
    trial = await try_filter(app.db, who.user.id, body.condition, body.scope.scope(), datetime.now(UTC))
    return Response(msgspec.json.encode(trial), media_type="application/json")


@router.post("/filters/{filter_id:int}/apply", status_code=202, responses=problem_responses(404, 409))
async def apply_filter(app: TheApp, who: Writer, filter_id: PathId) -> FilterJobResponse:
    """Applies a filter to all stored entries, as a job; it notifies of none of them."""
    return FilterJobResponse.of(await own.apply_backwards(app.db, who.user.id, filter_id, datetime.now(UTC)))


@router.post("/filters/{filter_id:int}/revert", status_code=202, responses=problem_responses(404))
async def revert_filter(app: TheApp, who: Writer, filter_id: PathId) -> FilterJobResponse:
    """Takes back all that a filter did, as a job; what you changed yourself since then stays.

    Also of a filter that was deleted, as long as something is left of what it did.
    """
    return FilterJobResponse.of(await own.revert_filter(app.db, who.user.id, filter_id, datetime.now(UTC)))


@router.get("/filters/{filter_id:int}/jobs", responses=problem_responses(404))
async def list_jobs_of_filter(app: TheApp, who: Reader, filter_id: PathId) -> FilterJobPage:
    """The last jobs of a filter, newest first."""
    found = await own.jobs_of_filter(app.db, who.user.id, filter_id, 50)
    return FilterJobPage(items=[FilterJobResponse.of(job) for job in found])


@router.get("/filter-jobs")
async def list_running_filter_jobs(app: TheApp, who: Reader) -> FilterJobPage:
    """Your jobs of filters that are running."""
    found = await own.running_filter_jobs(app.db, who.user.id)
    return FilterJobPage(items=[FilterJobResponse.of(job) for job in found])


@router.get("/filter-jobs/{job_id}", responses=problem_responses(404))
async def read_filter_job(app: TheApp, who: Reader, job_id: PathId) -> FilterJobResponse:
    return FilterJobResponse.of(await own.find_filter_job(app.db, who.user.id, job_id))


@router.post("/filter-jobs/{job_id}/undo", status_code=202, responses=problem_responses(404, 409))
async def undo_filter_job(app: TheApp, who: Writer, job_id: PathId) -> FilterJobResponse:
    """Takes back what a job changed, as another job; what you changed yourself since then stays."""
    return FilterJobResponse.of(await own.undo_job(app.db, who.user.id, job_id, datetime.now(UTC)))


@router.post("/filter-jobs/{job_id}/retry", status_code=202, responses=problem_responses(404, 409))
async def retry_filter_job(app: TheApp, who: Writer, job_id: PathId) -> FilterJobResponse:
    """Starts a job that failed or was cancelled again, as another job."""
    return FilterJobResponse.of(await own.start_job_again(app.db, who.user.id, job_id, datetime.now(UTC)))


@router.post("/filter-jobs/{job_id}/cancel", responses=problem_responses(404, 409))
async def cancel_filter_job(app: TheApp, who: Writer, job_id: PathId) -> FilterJobResponse:
    """Ends a job; what it did stays, and can be undone."""
    if not await own.cancel_filter_job(app.db, who.user.id, job_id, datetime.now(UTC)):
        raise FilterJobEnded(Message("error.job_ended"))
    return FilterJobResponse.of(await own.find_filter_job(app.db, who.user.id, job_id))
