"""`/api/feeds`: subscribes, discovers, lists, changes, refreshes and unsubscribes feeds."""

from datetime import timedelta
from hashlib import blake2b
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from feedmill.api_schemas.feeds import (
    DiscoverResponse,
    FeedPage,
    RefreshResponse,
    SkippedFeedsResponse,
    SubscribeResponse,
)
from feedmill.app import App
from feedmill.collect.discovery.response_cache import ResponseCache
from feedmill.library.feeds.private_feeds import read_private_http_options
from feedmill.library.filters.filter_new_entries import preview_filter_rules
from feedmill.library.jobs.start_refresh import StartedRefresh, refresh_many, refresh_one, start_first_fetches
from feedmill.library.subscriptions import change_subscription, lookup
from feedmill.library.subscriptions import subscribe as subscribing
from feedmill.library.subscriptions.feed_settings import settings_of_subscription
from feedmill.library.subscriptions.folders import check_folders, clip_path, ensure_folders
from feedmill.library.subscriptions.http_options import summarize_http_options
from feedmill.model.feed_settings import COLUMN_SETTINGS, FeedSettings
from feedmill.model.subscription import Subscription
from feedmill.outbound.encrypted_options import encrypt_options
from feedmill.serve.http.cache_headers import matches_etag
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.dependencies import Reader, TheApp, TheJobs, Writer
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import Id, PathId
from feedmill.serve.rest.feeds.filter_schemas import FilterPreviewResponse, FilterRulesRequest
from feedmill.serve.rest.feeds.schemas import (
    DiscoverRequest,
    FeedChanges,
    FeedDetailResponse,
    NewFeedRequest,
    to_discover_response,
    to_feed_response,
)

router = APIRouter(prefix="/feeds", tags=["feeds"])

# null leaves these unchanged.
FLAGS = ("paused", "same_story_once")


def _discovery_cache(request: Request) -> ResponseCache:
    discovery_cache: ResponseCache = request.app.state.discovery_cache
    return discovery_cache


QUEUED: dict[int | str, dict[str, Any]] = {
    202: {"model": SubscribeResponse, "description": "It will be fetched by the job"}
}
TheDiscoveryCache = Annotated[ResponseCache, Depends(_discovery_cache)]


class RefreshAllRequest(RequestBody):
    folder_id: Id | None = Field(default=None, description="Only the feeds in this folder and its subfolders.")


@router.get("", response_model=FeedPage, responses={304: {"description": "As it was"}})
async def list_feeds(app: TheApp, who: Reader, request: Request) -> Response:
    """All subscriptions, with unread count, health, and the next fetch with its reason."""
    subscriptions = await lookup.subscriptions_of_user(app.db, who.user.id)
    # The hook renders messages as text.
    body = msgspec.json.encode({"items": subscriptions, "next": None}, enc_hook=str)
    headers = {"ETag": f'"{blake2b(body, digest_size=16).hexdigest()}"', "Cache-Control": "private, no-cache"}
    if matches_etag(request, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


@router.post("", status_code=201, responses=problem_responses(409) | QUEUED)
async def subscribe(
    app: TheApp,
    work: TheJobs,
    discovery_cache: TheDiscoveryCache,
    who: Writer,
    new: NewFeedRequest,
    response: Response,
) -> SubscribeResponse:
    """Subscribes to the feed at a URL, or to the only feed of the page there.

    The site gets one request: the response that contains the feed is its first fetch. Error codes:
    `already_subscribed` (with `subscription_id`), `several_feeds` (with `candidates`), `not_a_feed`, `unreachable`,
    `refused_address`, `too_large`, `bad_address`, `quota`, `quota_bytes`.

    If the site takes longer than a moment, the answer is 202 with a job: you subscribe to the URL, and the job tells
    what came of it. If a page is there that names one feed, the subscription moves to that feed. If it names several,
    the job fails: `POST /feeds/discover` lists them.
    """
    request = await _subscribe_request(app, who.user.id, new)
    patience = timedelta(seconds=app.settings.subscribe_seconds)
    done = await subscribing.subscribe(app.tools, who.user, request, discovery_cache, patience)
    job_id = await start_first_fetches(work, who.user.id, [done])
    response.status_code = 201 if done.is_fetched else 202
    status: Literal["ready", "queued"] = "ready" if done.is_fetched else "queued"
    return SubscribeResponse(feed=to_feed_response(done.subscription), status=status, job_id=job_id)


@router.post("/discover")
async def discover_feeds(
    app: TheApp, discovery_cache: TheDiscoveryCache, who: Writer, page: DiscoverRequest
) -> DiscoverResponse:
    """The feeds at a URL, or of the page there, and every URL that was tried."""
    return to_discover_response(await subscribing.discover(app.tools, who.user, page.url, discovery_cache))


@router.post("/refresh-all", status_code=202, responses=problem_responses(404))
async def refresh_all(
    app: TheApp, work: TheJobs, who: Writer, which: RefreshAllRequest | None = None
) -> RefreshResponse:
    """Fetches all feeds now, or those of a folder; a second request joins the running job."""
    folder_id = which.folder_id if which else None
    chosen = await lookup.subscriptions_in_folder(app.db, who.user.id, folder_id)
    return _to_refresh_response(await refresh_many(work, app.db, who.user.id, chosen, folder_id))


@router.get("/{subscription_id:int}", responses=problem_responses(404))
async def read_feed(app: TheApp, who: Reader, subscription_id: PathId) -> FeedDetailResponse:
    return await _detail(app, who.user.id, await lookup.find_subscription(app.db, who.user.id, subscription_id))


@router.patch("/{subscription_id:int}", responses=problem_responses(404))
async def change_feed(app: TheApp, who: Writer, subscription_id: PathId, changes: FeedChanges) -> FeedDetailResponse:
    """Changes the settings of a subscription; the smallest interval of all subscribers counts."""
    user_id, now = who.user.id, app.tools.clock()
    sent = changes.model_dump(include=set(COLUMN_SETTINGS), exclude_unset=True)
    given = {name: value for name, value in sent.items() if value is not None or name not in FLAGS}
    await lookup.find_subscription(app.db, user_id, subscription_id)
    await check_folders(app.db, user_id, changes.folder_ids or [])
    settings = given | (changes.settings.changes() if changes.settings else {})
    await change_subscription.check_settings_change(app.db, user_id, subscription_id, settings)
    if "http_options" in changes.model_fields_set:
        written = changes.http_options.kept() if changes.http_options else None
        options = encrypt_options(app.tools.encryption, written)
        await change_subscription.change_login(app.db, user_id, subscription_id, options, now)
    change = change_subscription.SubscriptionChange(settings, changes.folder_ids)
    changed = await change_subscription.update_subscription(
        app.db, app.tools.rules, user_id, subscription_id, change, now
    )
    return await _detail(app, user_id, changed)


@router.post("/{subscription_id:int}/rules/preview", responses=problem_responses(404))
async def preview_rules(
    app: TheApp, who: Reader, subscription_id: PathId, tried: FilterRulesRequest
) -> FilterPreviewResponse:
    """What these rules would have done with the feed's last 50 entries; changes nothing."""
    subscription = await lookup.find_subscription(app.db, who.user.id, subscription_id)
    found = await preview_filter_rules(app.db, subscription, *tried.rules())
    return FilterPreviewResponse.of(found)


@router.delete("/{subscription_id:int}", status_code=204, responses=problem_responses(404))
async def unsubscribe(app: TheApp, who: Writer, subscription_id: PathId) -> None:
    """Unsubscribes; starred, labelled and read-later entries stay."""
    await change_subscription.unsubscribe(app.db, who.user.id, subscription_id)


@router.post("/{subscription_id:int}/refresh", status_code=202, responses=problem_responses(404))
async def refresh_feed(app: TheApp, work: TheJobs, who: Writer, subscription_id: PathId) -> RefreshResponse:
    """Fetches the feed now, unless it was fetched seconds ago."""
    subscription = await lookup.find_subscription(app.db, who.user.id, subscription_id)
    return _to_refresh_response(await refresh_one(work, app.db, who.user.id, subscription))


def _to_refresh_response(started: StartedRefresh) -> RefreshResponse:
    skipped = SkippedFeedsResponse(paused=started.paused, too_soon=started.too_soon)
    return RefreshResponse(
        status=started.status,
        job_id=started.job_id,
        queued=started.queued,
        already_running=started.already_running,
        skipped=skipped,
    )


async def _subscribe_request(app: App, user_id: int, new: NewFeedRequest) -> subscribing.SubscribeRequest:
    await check_folders(app.db, user_id, new.folder_ids)
    filed = set(new.folder_ids)
    if new.folder:
        path = clip_path(tuple(name for name in map(str.strip, new.folder.split("/")) if name))
        filed |= {folder for made, folder in (await ensure_folders(app.db, user_id, [path])).items() if made == path}
    return subscribing.SubscribeRequest(
        new.url,
        FeedSettings(
            title=new.title,
            interval_seconds=new.interval_seconds,
            archive_policy=new.archive_policy,
            **(new.settings.changes() if new.settings else {}),
        ),
        tuple(sorted(filed)),
        new.http_options.kept() if new.http_options else None,
        new.anyway,
    )


async def _detail(app: App, user_id: int, subscription: Subscription) -> FeedDetailResponse:
    settings = await settings_of_subscription(app.db, user_id, subscription)
    login = await read_private_http_options(app.db, app.tools.encryption, subscription)
    return FeedDetailResponse.whole(subscription, settings, summarize_http_options(login))
