"""`/api/queue`: one feed is put on the queue, now or when it is due."""

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from feedmill.errors import NotFound
from feedmill.library.subscriptions import find_subscription
from feedmill.model.standing import standing
from feedmill.serve.refreshing import refresh_one
from feedmill.serve.rest.fields import Flag, Id
from feedmill.serve.rest.parts import TheApp, TheWork, Writer
from feedmill.serve.rest.problems import described
from feedmill.store.feeds import feeds_of_ids
from feedmill.store.subscriptions import subscribed_to

router = APIRouter(prefix="/queue", tags=["feeds"])


class FeedToSchedule(BaseModel):
    feed_id: Id
    force_immediate: Flag = Field(default=False, description="Now, whenever it is due.")


class FeedScheduled(BaseModel):
    """`task_id` is the job's id; null when nothing had to be started."""

    task_id: str | None
    status: Literal["queued", "already_running"]
    delay_seconds: int


@router.post("/schedule-feed", responses=described(404))
async def schedule_feed(app: TheApp, work: TheWork, who: Writer, asked: FeedToSchedule) -> FeedScheduled:
    """Has a feed fetched that the caller subscribes to: at once, or when it is due."""
    mine = await subscribed_to(app.db, who.user.id, [asked.feed_id])
    if not mine:
        raise NotFound("there is no such feed")
    [feed] = await feeds_of_ids(app.db, [asked.feed_id])
    now = app.tools.clock()
    if standing(feed, now) == "running":
        return FeedScheduled(task_id=None, status="already_running", delay_seconds=0)
    if not asked.force_immediate and feed.next_fetch_at is not None and feed.next_fetch_at > now:
        delay = round((feed.next_fetch_at - now).total_seconds())
        return FeedScheduled(task_id=None, status="queued", delay_seconds=delay)
    subscription = await find_subscription(app.db, who.user.id, mine[asked.feed_id])
    started = await refresh_one(work, app.db, who.user.id, subscription)
    status: Literal["queued", "already_running"] = "already_running" if started.already_running else "queued"
    return FeedScheduled(task_id=str(started.job_id), status=status, delay_seconds=0)
