"""`/api/admin/…`: what runs and waits, what takes up room, and who did what."""

from datetime import UTC, datetime, timedelta
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from feedmill.engine.names import QUEUES
from feedmill.model.feed import PRIVATE_MARK
from feedmill.serve.rest.admin_users import actor
from feedmill.serve.rest.cursors import Cursor, Limit, cursor_at, cut, place_at
from feedmill.serve.rest.fields import MOST_ID
from feedmill.serve.rest.parts import Admin, TheApp, TheWork
from feedmill.store.audit import trail
from feedmill.store.backlog import (
    latest_failures,
    running_batches,
    running_feeds,
    waiting_deliveries,
    waiting_hosts,
)
from feedmill.store.dead_letters import retry
from feedmill.store.metrics import count_images
from feedmill.store.overview import count_feeds
from feedmill.store.room import measure_room

router = APIRouter(prefix="/admin", tags=["admin"])

MOST_BATCHES, MOST_FAILURES, MOST_RUNNING = 50, 50, 50
LATELY = timedelta(days=1)


class Shown(BaseModel):
    """Made from the value of the same fields."""

    model_config = ConfigDict(from_attributes=True)


class BatchRunning(Shown):
    id: int
    kind: str
    total: int
    done: int
    new_entries: int
    failed: int
    created_at: datetime


class FetchFailed(Shown):
    feed_id: int
    url: str
    at: datetime
    http_status: int | None
    message: str | None


class FeedRunning(BaseModel):
    feed_id: int
    url: str
    since: datetime


class HostWaiting(Shown):
    host: str
    feeds: int
    since: datetime


class ProcessSeen(BaseModel):
    role: str
    name: str
    seen_at: datetime


class Retry(BaseModel):
    what: Literal["deliveries", "images"] = Field(description="Calls of webhooks, or images.")


class Retried(BaseModel):
    what: Literal["deliveries", "images"]
    retried: int = Field(description="How many are tried again.")


class Queue(BaseModel):
    feeds: dict[str, int] = Field(description="How many feeds are due, running, failing and so on.")
    batches: list[BatchRunning] = Field(description="The batches that run, the newest first.")
    images: dict[str, int] = Field(description="Images by status; pending ones wait.")
    deliveries: dict[str, int] = Field(description="Webhook calls that wait, or were given up.")
    waits: dict[str, int] = Field(description="In one process: jobs that wait, by priority.")
    messages: dict[str, int] = Field(description="Scaled out: jobs that wait, by queue.")
    processes: dict[str, int] = Field(description="Scaled out: processes at work, by role.")
    heartbeats: list[ProcessSeen] = Field(description="Scaled out: each process, and when it last showed itself.")
    running: list[FeedRunning] = Field(description="The feeds that are being fetched, the longest first.")
    waiting: list[HostWaiting] = Field(description="The hosts whose feeds are due, the longest first.")
    failures: list[FetchFailed] = Field(description="The last fetches of the last day that failed.")


class LargestFeed(Shown):
    feed_id: int
    url: str
    title: str | None
    entries: int
    raw_bytes: int
    image_bytes: int


class Storage(Shown):
    feeds: int
    entries: int
    raw_bodies: int
    raw_bytes: int
    images: int
    image_bytes: int
    objects_to_delete: int
    database_bytes: int | None = Field(description="null where the database does not tell.")
    largest: list[LargestFeed] = Field(description="The 20 feeds that take up most.")


class DeedShown(Shown):
    id: int
    at: datetime
    user_id: int | None = Field(description="Who did it; null for the command line or a visitor.")
    user_name: str | None
    action: str
    subject: str | None
    address: str | None


class AuditPage(BaseModel):
    items: list[DeedShown]
    next: str | None


@router.get("/queue")
async def read_queue(app: TheApp, work: TheWork, who: Admin) -> Queue:
    """What runs, what waits and what failed lately."""
    now, sight = datetime.now(UTC), app.coordination.sight
    return Queue(
        feeds=await count_feeds(app.db, now),
        batches=[BatchRunning.model_validate(one) for one in await running_batches(app.db, MOST_BATCHES)],
        images=await count_images(app.db),
        deliveries=await waiting_deliveries(app.db),
        waits=dict(work.waits()),
        messages=dict(await sight.waiting(QUEUES)),
        processes=dict(await sight.present()),
        heartbeats=[ProcessSeen(role=one.role, name=one.name, seen_at=now - one.ago) for one in await sight.seen()],
        running=[
            FeedRunning(feed_id=feed.id, url=feed.url.partition(PRIVATE_MARK)[0], since=since)
            for feed, since in await running_feeds(app.db, now, MOST_RUNNING)
        ],
        waiting=[HostWaiting.model_validate(one) for one in await waiting_hosts(app.db, now, MOST_RUNNING)],
        failures=[
            FetchFailed.model_validate(one) for one in await latest_failures(app.db, now - LATELY, MOST_FAILURES)
        ],
    )


@router.post("/queue/retry")
async def retry_dead_letters(app: TheApp, who: Admin, request: Request, wanted: Retry) -> Retried:
    """Tries again what was given up."""
    retried = await retry(app.db, wanted.what, actor(who, request), datetime.now(UTC))
    return Retried(what=wanted.what, retried=retried)


@router.get("/storage")
async def read_storage(app: TheApp, who: Admin) -> Storage:
    """How much is kept, and which feeds it is from."""
    return Storage.model_validate(await measure_room(app.db))


@router.get("/audit")
async def read_audit(app: TheApp, who: Admin, limit: Limit = 50, cursor: Cursor = None) -> AuditPage:
    """Who did what to accounts and feeds, the latest first."""
    found = await trail(app.db, place_at(cursor, MOST_ID - 1), limit + 1)
    page, last = cut(found, limit)
    return AuditPage(items=[DeedShown.model_validate(deed) for deed in page], next=cursor_at(last.id) if last else None)
