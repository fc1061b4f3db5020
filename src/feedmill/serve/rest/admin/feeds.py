"""`/api/admin/feeds`: lists, changes, pauses and merges feeds, without showing who subscribes."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from feedmill.api_schemas.response_body import MessageText
from feedmill.app import App
from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.cursors import cursor_at
from feedmill.library.feeds.change_url import change_feed_url
from feedmill.library.feeds.merge_feeds import merge_into_feed, plan_merge
from feedmill.model.feed import FeedState, FeedStatus, feed_state, without_owner
from feedmill.serve.http.auth import actor
from feedmill.serve.http.paginate import decode_cursor, split_page
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.dependencies import Admin, TheApp
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import Id, PathId, StrictBool, UrlText
from feedmill.serve.rest.core.page_parameters import Cursor, Limit
from feedmill.store.admin.feeds import AdminFeed, feeds_page, pause_feed, read_admin_feed, resume_feed

router = APIRouter(prefix="/admin/feeds", tags=["admin"])

COPIED_FIELDS = (
    "id",
    "site_url",
    "status",
    "next_fetch_at",
    "next_fetch_why",
    "last_fetched_at",
    "last_success_at",
    "last_entry_at",
    "consecutive_failures",
    "last_error",
    "last_error_kind",
    "created_at",
)


class AdminFeedResponse(BaseModel):
    id: int
    url: str
    title: str
    site_url: str | None
    is_private: bool = Field(description="Whether it is fetched with a subscriber's own password.")
    standing: FeedState = Field(description="Its state.")
    status: FeedStatus
    subscribers: int
    entries: int
    next_fetch_at: datetime | None
    next_fetch_why: MessageText | None
    last_fetched_at: datetime | None
    last_success_at: datetime | None
    last_entry_at: datetime | None
    consecutive_failures: int
    last_error: MessageText | None
    last_error_kind: str | None
    created_at: datetime

    @classmethod
    def of(cls, one: AdminFeed) -> "AdminFeedResponse":
        feed = one.feed
        return cls(
            url=without_owner(feed.url),
            title=without_owner(feed.name),
            is_private=feed.is_private,
            standing=feed_state(feed, datetime.now(UTC)),
            subscribers=one.subscribers,
            entries=feed.entry_count,
            **{name: getattr(feed, name) for name in COPIED_FIELDS},
        )


class AdminFeedPage(BaseModel):
    items: list[AdminFeedResponse]
    next: str | None


class AdminFeedChanges(RequestBody):
    """Fields that are left out are not changed."""

    url: UrlText | None = Field(None, description="The new URL, for all subscribers.")
    paused: StrictBool | None = Field(
        None, description="true: not fetched any more; false: due at once, with the failure count reset."
    )


class MergeFeedsRequest(RequestBody):
    into: Id = Field(description="The feed that stays.")
    dry_run: StrictBool = Field(False, description="Only report what would happen, and which entries could be moved.")
    move_entries: StrictBool = Field(False, description="Also move the entries. By default they stay with their feed.")
    up_to: Id | None = Field(
        None,
        description="Move no entry newer than this one: `newest_movable` of the dry run. By default all are moved.",
    )


class MovableEntryResponse(BaseModel):
    id: int
    title: str | None
    link: str | None
    published_at: datetime | None


class MergeFeedsResponse(BaseModel):
    feed: AdminFeedResponse = Field(description="The feed that stays.")
    readers: int = Field(description="The number of subscriptions that move to it.")
    readers_of_both: int = Field(description="The number of subscribers to both feeds.")
    entries: int = Field(description="The number of entries of the other feed.")
    same_entries: int = Field(description="The number of entries that are the same in both: their marks are copied.")
    movable_entries: int = Field(description="The number of entries that `move_entries` would move.")
    newest_movable: int | None = Field(description="The newest of these entries.")
    first_movable: list[MovableEntryResponse] = Field(description="The newest hundred of these entries, by date.")
    moved_entries: int = Field(description="The number of moved entries.")
    dry_run: bool


@router.get("")
async def list_all_feeds(
    app: TheApp,
    who: Admin,
    limit: Limit = 50,
    cursor: Cursor = None,
    failing: Annotated[bool, Query(description="Only those that failed last time.")] = False,
) -> AdminFeedPage:
    """All feeds, oldest first, with their health and number of subscribers."""
    found = await feeds_page(app.db, decode_cursor(cursor, 0), limit + 1, only_failing=failing)
    page, last = split_page(found, limit)
    return AdminFeedPage(
        items=[AdminFeedResponse.of(one) for one in page], next=cursor_at(last.feed.id) if last else None
    )


@router.get("/{feed_id}", responses=problem_responses(404))
async def read_any_feed(app: TheApp, who: Admin, feed_id: PathId) -> AdminFeedResponse:
    return AdminFeedResponse.of(await _feed(app, feed_id))


@router.patch("/{feed_id}", responses=problem_responses(404, 409))
async def change_any_feed(
    app: TheApp, who: Admin, request: Request, feed_id: PathId, changes: AdminFeedChanges
) -> AdminFeedResponse:
    """Changes the URL of a feed, pauses or resumes it, for all subscribers."""
    now, by = datetime.now(UTC), actor(who, request)
    feed = (await _feed(app, feed_id)).feed
    if changes.url is not None:
        await change_feed_url(app.db, app.tools.encryption, feed, changes.url, by, now)
    if changes.paused is not None:
        await (pause_feed if changes.paused else resume_feed)(app.db, feed, by, now)
    return AdminFeedResponse.of(await _feed(app, feed_id))


@router.post("/{feed_id}/merge", responses=problem_responses(404, 409))
async def merge_feed(
    app: TheApp, who: Admin, request: Request, feed_id: PathId, body: MergeFeedsRequest
) -> MergeFeedsResponse:
    """Moves the subscribers of a feed to another, with their marks of entries that are the same in both.

    The feed is not fetched any more, and its entries stay with it by default. This can't be undone.
    """
    source, target = await _feed(app, feed_id), await _feed(app, body.into)
    if body.dry_run:
        preview, moved = await plan_merge(app.db, app.tools.encryption, source, target), 0
    else:
        preview, moved = await merge_into_feed(
            app.db,
            app.tools.encryption,
            source,
            target,
            actor(who, request),
            datetime.now(UTC),
            move_entries=body.move_entries,
            up_to=body.up_to,
        )
    stays = AdminFeedResponse.of(await _feed(app, body.into))
    fields = asdict(preview) | {"first_movable": [one._asdict() for one in preview.first_movable]}
    return MergeFeedsResponse(feed=stays, moved_entries=moved, dry_run=body.dry_run, **fields)


async def _feed(app: App, feed_id: int) -> AdminFeed:
    found = await read_admin_feed(app.db, feed_id)
    if found is None:
        raise NotFound(Message("error.no_such_feed"))
    return found
