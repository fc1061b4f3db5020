"""`/api/admin/…`: what runs and waits, what takes up room, the hosts, and who did what."""

from datetime import UTC, datetime, timedelta

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from feedmill.engine.names import QUEUES
from feedmill.serve.rest.cursors import Cursor, Limit, cursor_at, cut, place_at
from feedmill.serve.rest.fields import MOST_ID
from feedmill.serve.rest.parts import Admin, TheApp
from feedmill.store.audit import trail
from feedmill.store.backlog import hosts_page, latest_failures, running_batches, waiting_deliveries
from feedmill.store.metrics import count_images
from feedmill.store.overview import count_feeds
from feedmill.store.room import measure_room

router = APIRouter(prefix="/admin", tags=["admin"])

MOST_BATCHES, MOST_FAILURES = 50, 50
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


class Queue(BaseModel):
    feeds: dict[str, int] = Field(description="How many feeds are due, running, failing and so on.")
    batches: list[BatchRunning] = Field(description="The batches that run, the newest first.")
    images: dict[str, int] = Field(description="Images by status; pending ones wait.")
    deliveries: dict[str, int] = Field(description="Webhook calls that wait, or were given up.")
    messages: dict[str, int] = Field(description="Scaled out: jobs that wait, by queue.")
    processes: dict[str, int] = Field(description="Scaled out: processes at work, by role.")
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


class HostShown(Shown):
    host: str
    feeds: int
    failing: int
    last_fetched_at: datetime | None
    next_fetch_at: datetime | None


class HostPage(BaseModel):
    items: list[HostShown]
    next: str | None


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
async def read_queue(app: TheApp, who: Admin) -> Queue:
    """What runs, what waits and what failed lately."""
    now, sight = datetime.now(UTC), app.coordination.sight
    return Queue(
        feeds=await count_feeds(app.db, now),
        batches=[BatchRunning.model_validate(one) for one in await running_batches(app.db, MOST_BATCHES)],
        images=await count_images(app.db),
        deliveries=await waiting_deliveries(app.db),
        messages=dict(await sight.waiting(QUEUES)),
        processes=dict(await sight.present()),
        failures=[
            FetchFailed.model_validate(one) for one in await latest_failures(app.db, now - LATELY, MOST_FAILURES)
        ],
    )


@router.get("/storage")
async def read_storage(app: TheApp, who: Admin) -> Storage:
    """How much is kept, and which feeds it is from."""
    return Storage.model_validate(await measure_room(app.db))


@router.get("/hosts")
async def list_hosts(app: TheApp, who: Admin, limit: Limit = 50, cursor: Cursor = None) -> HostPage:
    """The hosts that feeds come from, by name."""
    found = await hosts_page(app.db, place_at(cursor, ""), limit + 1)
    page, last = cut(found, limit)
    return HostPage(
        items=[HostShown.model_validate(host) for host in page], next=cursor_at(last.host) if last else None
    )


@router.get("/audit")
async def read_audit(app: TheApp, who: Admin, limit: Limit = 50, cursor: Cursor = None) -> AuditPage:
    """Who did what to accounts and feeds, the latest first."""
    found = await trail(app.db, place_at(cursor, MOST_ID - 1), limit + 1)
    page, last = cut(found, limit)
    return AuditPage(
        items=[DeedShown.model_validate(deed) for deed in page], next=cursor_at(last.id) if last else None
    )
