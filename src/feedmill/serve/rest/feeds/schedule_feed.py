"""`POST /api/queue/schedule-feed`: starts the refresh of one feed, if it is due or forced; else says when it is due."""

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from feedmill.library.jobs.start_refresh import refresh_one
from feedmill.library.subscriptions.lookup import feed_of_subscription, find_subscription_of_feed
from feedmill.model.feed import feed_state
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.dependencies import TheApp, TheJobs, Writer
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import Id, StrictBool

router = APIRouter(prefix="/queue", tags=["feeds"])


class ScheduleFeedRequest(RequestBody):
    feed_id: Id
    force_immediate: StrictBool = Field(default=False, description="At once, even if it is not due yet.")


class ScheduleFeedResponse(BaseModel):
    """`task_id` is the job's id; null when nothing had to be started."""

    task_id: str | None
    status: Literal["queued", "already_running"]
    delay_seconds: int


@router.post("/schedule-feed", responses=problem_responses(404))
async def schedule_feed(app: TheApp, work: TheJobs, who: Writer, body: ScheduleFeedRequest) -> ScheduleFeedResponse:
    """Refreshes a feed of the caller at once if it is due, or with `force_immediate`.

    Otherwise nothing is started: the scheduler fetches the feed when it is due, after `delay_seconds`.
    """
    subscription = await find_subscription_of_feed(app.db, who.user.id, body.feed_id)
    feed = await feed_of_subscription(app.db, subscription)
    now = app.tools.clock()
    if feed_state(feed, now) == "running":
        return ScheduleFeedResponse(task_id=None, status="already_running", delay_seconds=0)
    if not body.force_immediate and feed.next_fetch_at is not None and feed.next_fetch_at > now:
        delay = round((feed.next_fetch_at - now).total_seconds())
        return ScheduleFeedResponse(task_id=None, status="queued", delay_seconds=delay)
    started = await refresh_one(work, app.db, who.user.id, subscription)
    status: Literal["queued", "already_running"] = "already_running" if started.already_running else "queued"
    return ScheduleFeedResponse(task_id=str(started.job_id), status=status, delay_seconds=0)
