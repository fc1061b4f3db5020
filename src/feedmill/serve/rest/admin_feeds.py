"""`/api/admin/feeds`: all feeds and how they fare, for an admin; who is subscribed is not to be seen here."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from feedmill.app import App
from feedmill.errors import NotFound
from feedmill.library.administer import change_address
from feedmill.library.merging import foresee, merge
from feedmill.model.feed import PRIVATE_MARK, FeedStatus
from feedmill.model.standing import Standing, standing
from feedmill.serve.rest.admin_users import actor
from feedmill.serve.rest.cursors import Cursor, Limit, cursor_at, cut, place_at
from feedmill.serve.rest.fields import Address, Flag, Id, PathId
from feedmill.serve.rest.parts import Admin, TheApp
from feedmill.serve.rest.problems import described
from feedmill.store.administered_feeds import Administered, feeds_page, pause_feed, read_administered, resume_feed

router = APIRouter(prefix="/admin/feeds", tags=["admin"])

OF_FEED = (
    "id", "site_url", "status", "next_fetch_at", "next_fetch_why", "last_fetched_at", "last_success_at",
    "last_entry_at", "consecutive_failures", "last_error", "last_error_kind", "created_at",
)  # fmt: skip


class FeedAdministered(BaseModel):
    id: int
    url: str
    title: str
    site_url: str | None
    is_private: bool = Field(description="Whether it is fetched with a subscriber's own password.")
    standing: Standing = Field(description="How it fares, in one word.")
    status: FeedStatus
    subscribers: int
    entries: int
    next_fetch_at: datetime | None
    next_fetch_why: str | None
    last_fetched_at: datetime | None
    last_success_at: datetime | None
    last_entry_at: datetime | None
    consecutive_failures: int
    last_error: str | None
    last_error_kind: str | None
    created_at: datetime

    @classmethod
    def of(cls, one: Administered) -> "FeedAdministered":
        feed = one.feed
        return cls(
            url=feed.url.partition(PRIVATE_MARK)[0], title=feed.name.partition(PRIVATE_MARK)[0],
            is_private=feed.is_private, standing=standing(feed, datetime.now(UTC)), subscribers=one.subscribers,
            entries=feed.entry_count, **{name: getattr(feed, name) for name in OF_FEED},
        )  # fmt: skip


class FeedAdministeredPage(BaseModel):
    items: list[FeedAdministered]
    next: str | None


class FeedAdministration(BaseModel):
    """What is left out stays as it is."""

    url: Address | None = Field(None, description="Where it is fetched from now on, for everybody.")
    paused: bool | None = Field(None, description="true: not fetched any more; false: due at once, failures forgotten.")


class MergeWanted(BaseModel):
    into: Id = Field(description="The feed that stays.")
    dry_run: Flag = Field(False, description="Only say what it would come to.")


class FeedMerged(BaseModel):
    feed: FeedAdministered = Field(description="The feed that stays.")
    readers: int = Field(description="How many subscriptions go over to it.")
    readers_of_both: int = Field(description="How many of those had both, and keep one.")
    entries: int = Field(description="How many entries go over to it.")
    twins: int = Field(description="How many of those were in both; what people did to either is kept.")
    dry_run: bool


@router.get("")
async def list_all_feeds(
    app: TheApp, who: Admin, limit: Limit = 50, cursor: Cursor = None,
    failing: Annotated[bool, Query(description="Only those that failed last time.")] = False,
) -> FeedAdministeredPage:  # fmt: skip
    """All feeds, the oldest first, with their health and how many people are subscribed."""
    found = await feeds_page(app.db, place_at(cursor, 0), limit + 1, only_failing=failing)
    page, last = cut(found, limit)
    return FeedAdministeredPage(
        items=[FeedAdministered.of(one) for one in page], next=cursor_at(last.feed.id) if last else None
    )


@router.get("/{feed_id}", responses=described(404))
async def read_any_feed(app: TheApp, who: Admin, feed_id: PathId) -> FeedAdministered:
    return FeedAdministered.of(await _feed(app, feed_id))


@router.patch("/{feed_id}", responses=described(404, 409))
async def administer_feed(
    app: TheApp, who: Admin, request: Request, feed_id: PathId, changes: FeedAdministration
) -> FeedAdministered:
    """Changes a feed's address, pauses or resumes it, for everybody."""
    now, by = datetime.now(UTC), actor(who, request)
    feed = (await _feed(app, feed_id)).feed
    if changes.url is not None:
        await change_address(app.db, feed, changes.url, by, now)
    if changes.paused is not None:
        await (pause_feed if changes.paused else resume_feed)(app.db, feed, by, now)
    return FeedAdministered.of(await _feed(app, feed_id))


@router.post("/{feed_id}/merge", responses=described(404, 409))
async def merge_feed(app: TheApp, who: Admin, request: Request, feed_id: PathId, wanted: MergeWanted) -> FeedMerged:
    """Makes one feed of two: subscriptions, stars, labels and entries go to the other. It can't be taken back."""
    source, target = await _feed(app, feed_id), await _feed(app, wanted.into)
    if wanted.dry_run:
        merging = await foresee(app.db, source, target)
    else:
        merging = await merge(app.db, source, target, actor(who, request), datetime.now(UTC))
    stays = FeedAdministered.of(await _feed(app, wanted.into))
    return FeedMerged(feed=stays, dry_run=wanted.dry_run, **asdict(merging))


async def _feed(app: App, feed_id: int) -> Administered:
    found = await read_administered(app.db, feed_id)
    if found is None:
        raise NotFound("there is no such feed")
    return found
