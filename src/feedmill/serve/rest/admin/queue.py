"""`/api/admin/queue`: what runs, waits and failed; retries what was given up."""

from datetime import UTC, datetime, timedelta
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from feedmill.api_schemas.response_body import MessageText
from feedmill.engine.task_names import QUEUES
from feedmill.model.feed import without_owner
from feedmill.serve.http.auth import actor
from feedmill.serve.rest.core.base_models import FromAttributes, RequestBody
from feedmill.serve.rest.core.dependencies import Admin, TheApp, TheJobs
from feedmill.store.admin.instance_overview import count_feeds_by_state
from feedmill.store.admin.metrics import count_images
from feedmill.store.admin.retry_dead_letters import retry_all_dead_letters
from feedmill.store.jobs.current_activity import (
    count_open_deliveries,
    latest_failures,
    running_batches,
    running_feeds,
    waiting_hosts,
)

router = APIRouter(prefix="/admin", tags=["admin"])

MAX_BATCHES, MAX_FAILURES, MAX_RUNNING = 50, 50, 50
RECENT = timedelta(days=1)


class RunningBatchResponse(FromAttributes):
    id: int
    kind: str
    total: int
    done: int
    new_entries: int
    failed: int
    created_at: datetime


class FailedFetchResponse(FromAttributes):
    feed_id: int
    url: str
    at: datetime
    http_status: int | None
    message: MessageText | None


class RunningFeedResponse(BaseModel):
    feed_id: int
    url: str
    since: datetime


class WaitingHostResponse(FromAttributes):
    host: str
    feeds: int
    since: datetime


class ProcessHeartbeatResponse(BaseModel):
    role: str
    name: str
    seen_at: datetime


class RetryRequest(RequestBody):
    what: Literal["deliveries", "images"] = Field(description="Webhook deliveries, or images.")


class RetryResponse(BaseModel):
    what: Literal["deliveries", "images"]
    retried: int = Field(description="The number of retried tasks.")


class QueueResponse(BaseModel):
    feeds: dict[str, int] = Field(description="The number of feeds by state: due, running, failing and so on.")
    batches: list[RunningBatchResponse] = Field(description="The running batches, newest first.")
    images: dict[str, int] = Field(description="Images by status; pending ones wait.")
    deliveries: dict[str, int] = Field(description="Webhook deliveries that wait or failed.")
    waits: dict[str, int] = Field(description="In one process: waiting jobs by priority.")
    messages: dict[str, int] = Field(description="Scaled out: waiting jobs by queue.")
    processes: dict[str, int] = Field(description="Scaled out: running processes by role.")
    heartbeats: list[ProcessHeartbeatResponse] = Field(description="Scaled out: each process with its last heartbeat.")
    running: list[RunningFeedResponse] = Field(
        description="The feeds that are being fetched, the longest-running first."
    )
    waiting: list[WaitingHostResponse] = Field(description="The hosts with due feeds, the longest-waiting first.")
    failures: list[FailedFetchResponse] = Field(description="The latest failed fetches of the last day.")


@router.get("/queue")
async def read_queue(app: TheApp, work: TheJobs, who: Admin) -> QueueResponse:
    """What runs, what waits and what failed recently."""
    now, presence = datetime.now(UTC), app.coordination.presence
    return QueueResponse(
        feeds=await count_feeds_by_state(app.db, now),
        batches=[RunningBatchResponse.model_validate(one) for one in await running_batches(app.db, MAX_BATCHES)],
        images=await count_images(app.db),
        deliveries=await count_open_deliveries(app.db),
        waits=dict(work.waits()),
        messages=dict(await app.coordination.count_messages(QUEUES)),
        processes=dict(await presence.count_by_role()),
        heartbeats=[
            ProcessHeartbeatResponse(role=one.role, name=one.name, seen_at=now - one.ago)
            for one in await presence.processes()
        ],
        running=[
            RunningFeedResponse(feed_id=feed.id, url=without_owner(feed.url), since=since)
            for feed, since in await running_feeds(app.db, now, MAX_RUNNING)
        ],
        waiting=[WaitingHostResponse.model_validate(one) for one in await waiting_hosts(app.db, now, MAX_RUNNING)],
        failures=[
            FailedFetchResponse.model_validate(one) for one in await latest_failures(app.db, now - RECENT, MAX_FAILURES)
        ],
    )


@router.post("/queue/retry")
async def retry_dead_letters(app: TheApp, who: Admin, request: Request, body: RetryRequest) -> RetryResponse:
    """Retries failed tasks."""
    retried = await retry_all_dead_letters(app.db, body.what, actor(who, request), datetime.now(UTC))
    return RetryResponse(what=body.what, retried=retried)
