"""`/api/jobs`: lists, reads, watches and cancels a user's jobs."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from feedmill.api_schemas.jobs import FeedOutcomeResponse, JobDetailResponse, JobResponse
from feedmill.errors import Conflict
from feedmill.i18n.messages import Message
from feedmill.library.cursors import cursor_at
from feedmill.library.jobs import user_jobs
from feedmill.library.jobs.user_jobs import find_job, import_report
from feedmill.model.batch import Batch
from feedmill.model.max_id import MAX_ID
from feedmill.serve.http.job_events import done_event_id, job_event_stream, outcome_fields
from feedmill.serve.http.paginate import decode_cursor, split_page
from feedmill.serve.http.sse import HEADERS, MEDIA_TYPE, parse_last_event_id
from feedmill.serve.rest.core.dependencies import Reader, TheApp, TheJobs, Writer
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import PathId
from feedmill.serve.rest.core.page_parameters import Cursor, Limit

router = APIRouter(prefix="/jobs", tags=["jobs"])


class JobPage(BaseModel):
    items: list[JobResponse]
    next: str | None


class JobHasEnded(Conflict):
    """There is nothing left to cancel."""

    code = "job_has_ended"


@router.get("")
async def list_jobs(app: TheApp, who: Reader, limit: Limit = 50, cursor: Cursor = None) -> JobPage:
    """Your jobs, newest first."""
    found = await user_jobs.list_jobs(app.db, who.user.id, decode_cursor(cursor, MAX_ID), limit + 1)
    page, last = split_page(found, limit)
    return JobPage(
        items=[JobResponse(**_job_fields(batch)) for batch in page], next=cursor_at(last.id) if last else None
    )


@router.get("/{job_id}", responses=problem_responses(404))
async def read_job(app: TheApp, who: Reader, job_id: PathId) -> JobDetailResponse:
    """The progress of a job."""
    batch = await find_job(app.db, who.user.id, job_id)
    failed = await user_jobs.failures_of_job(app.db, who.user.id, batch)
    failures = [FeedOutcomeResponse(**outcome_fields(each.outcome, each.subscription_id)) for each in failed]
    return JobDetailResponse(**_job_fields(batch), failures=failures, report=_report_fields(batch))


def _report_fields(batch: Batch) -> dict[str, Any] | None:
    """The report of an import with its messages in English."""
    report = import_report(batch)
    if report is None:
        return None
    return report | {"errors": [error | {"message": str(error["message"])} for error in report["errors"]]}


@router.post("/{job_id}/cancel", responses=problem_responses(404, 409))
async def cancel_job(app: TheApp, who: Writer, job_id: PathId) -> JobResponse:
    """Cancels a job: waiting feeds are dropped, running fetches finish.

    For a fifth of a second after the response, some waiting feeds may still start.
    """
    if not await user_jobs.cancel_job(app.db, who.user.id, job_id, app.tools.clock()):
        raise JobHasEnded(Message("error.job_ended"))
    return JobResponse(**_job_fields(await find_job(app.db, who.user.id, job_id)))


@router.get(
    "/{job_id}/events",
    response_class=StreamingResponse,
    responses={
        200: {"content": {MEDIA_TYPE: {}}},
        204: {"description": "The end was seen already"},
        **problem_responses(404),
    },
)
async def watch_job(
    app: TheApp,
    work: TheJobs,
    who: Reader,
    job_id: PathId,
    last_event_id: Annotated[
        str | None, Header(max_length=100, description="The id of the last received event.")
    ] = None,
) -> Response:
    """The job as server-sent events: `feed` for each finished feed, `progress`, and finally `done`.

    `feed` has the `title` of the subscription. `progress` also has some of the feeds that are being fetched:
    `current`, with `subscription_id` and `title`.
    """
    batch = await find_job(app.db, who.user.id, job_id)
    seen = parse_last_event_id(last_event_id)
    if seen >= done_event_id(batch):
        # 204 tells a browser not to reconnect.
        return Response(status_code=204)
    stream = job_event_stream(work, app.db, batch, who.user.id, seen)
    return StreamingResponse(stream, media_type=MEDIA_TYPE, headers=HEADERS)


def _job_fields(batch: Batch) -> dict[str, Any]:
    names = ("id", "kind", "status", "total", "done", "failed", "created_at", "finished_at", "waiting")
    return {name: getattr(batch, name) for name in names} | {"new": batch.new_entries}
