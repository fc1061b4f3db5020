"""`/api/jobs`: what a person started that takes a while, watched live or looked at afterwards."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from feedmill.errors import Conflict
from feedmill.library.jobs import find_job, report_of
from feedmill.serve.job_events import done_number, events, shown
from feedmill.serve.rest.cursors import Cursor, Limit, cursor_at, cut, place_at
from feedmill.serve.rest.fields import MOST_ID, PathId
from feedmill.serve.rest.parts import Reader, TheApp, TheWork, Writer
from feedmill.serve.rest.problems import described
from feedmill.serve.sse import HEADERS, MEDIA_TYPE, last_seen
from feedmill.store.batches import Batch, batches_of_user, cancel_batch, failures_of
from feedmill.store.subscriptions import subscribed_to

router = APIRouter(prefix="/jobs", tags=["jobs"])

MOST_FAILURES = 200


class JobShown(BaseModel):
    """`done` of `total` feeds have ended; `new` entries came with them, `failed` of them could not be fetched."""

    id: int
    kind: str = Field(description="`refresh_all`, `refresh` or `import`.")
    status: Literal["running", "done", "cancelled"]
    total: int
    done: int
    new: int
    failed: int
    created_at: datetime
    finished_at: datetime | None


class JobPage(BaseModel):
    items: list[JobShown]
    next: str | None


class FeedOutcome(BaseModel):
    """What came of one feed; `subscription_id` is null when it is not subscribed to any more."""

    subscription_id: int | None
    outcome: str
    new: int
    ms: int
    message: str | None


class JobDetail(JobShown):
    """Also which feeds failed (the first 200), and what an import has to say of its lines."""

    failures: list[FeedOutcome]
    report: dict[str, Any] | None = None


class JobCancelled(Conflict):
    """There is nothing left to cancel."""

    code = "job_has_ended"


@router.get("")
async def list_jobs(app: TheApp, who: Reader, limit: Limit = 50, cursor: Cursor = None) -> JobPage:
    """The caller's jobs, the newest first."""
    found = await batches_of_user(app.db, who.user.id, place_at(cursor, MOST_ID), limit + 1)
    page, last = cut(found, limit)
    return JobPage(items=[JobShown(**_shown(batch)) for batch in page], next=cursor_at(last.id) if last else None)


@router.get("/{job_id}", responses=described(404))
async def read_job(app: TheApp, who: Reader, job_id: PathId) -> JobDetail:
    """How a job stands."""
    batch = await find_job(app.db, who.user.id, job_id)
    failed = await failures_of(app.db, job_id, MOST_FAILURES)
    mine = await subscribed_to(app.db, who.user.id, [outcome.feed_id for outcome in failed])
    failures = [FeedOutcome(**shown(outcome, mine.get(outcome.feed_id))) for outcome in failed]
    return JobDetail(**_shown(batch), failures=failures, report=report_of(batch))


@router.post("/{job_id}/cancel", responses=described(404, 409))
async def cancel_job(app: TheApp, who: Writer, job_id: PathId) -> JobShown:
    """Drops what waits; what is being fetched comes to its end.

    For a fifth of a second after the answer, some of what waits may still begin.
    """
    await find_job(app.db, who.user.id, job_id)
    if not await cancel_batch(app.db, job_id, app.tools.clock()):
        raise JobCancelled("this job has ended already")
    return JobShown(**_shown(await find_job(app.db, who.user.id, job_id)))


@router.get(
    "/{job_id}/events",
    response_class=StreamingResponse,
    responses={
        200: {"content": {MEDIA_TYPE: {}}},
        204: {"description": "The end was seen already"},
        **described(404),
    },
)
async def watch_job(
    app: TheApp,
    work: TheWork,
    who: Reader,
    job_id: PathId,
    last_event_id: Annotated[str | None, Header(max_length=100, description="The last event that was seen.")] = None,
) -> Response:
    """The job as server-sent events: `feed` for each that ended, `progress`, and at last `done`.

    `progress` also has some of the feeds that are being fetched now: `current`, with `subscription_id` and `title`.
    """
    batch = await find_job(app.db, who.user.id, job_id)
    seen = last_seen(last_event_id)
    if seen >= done_number(batch):
        # What tells a browser not to come back again.
        return Response(status_code=204)
    stream = events(work, app.db, batch, who.user.id, seen)
    return StreamingResponse(stream, media_type=MEDIA_TYPE, headers=HEADERS)


def _shown(batch: Batch) -> dict[str, Any]:
    names = ("id", "kind", "status", "total", "done", "failed", "created_at", "finished_at")
    return {name: getattr(batch, name) for name in names} | {"new": batch.new_entries}
