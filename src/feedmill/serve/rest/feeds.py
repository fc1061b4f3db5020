"""`/api/feeds`: what a person subscribes to."""

from hashlib import blake2b
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field

from feedmill.app import App
from feedmill.library import subscribe as spine
from feedmill.library import subscriptions as own
from feedmill.library.discovery import Answers
from feedmill.library.folders import check_folders, ensure_folders, shortened
from feedmill.library.privacy import show_options
from feedmill.library.tailoring import preview
from feedmill.model.feed_settings import NO_SETTINGS
from feedmill.model.subscription import Choice, Subscription
from feedmill.serve.refreshing import Started, refresh_many, refresh_one
from feedmill.serve.rest.feed_forms import (
    DiscoveryShown,
    FeedAdded,
    FeedChanges,
    FeedDetail,
    FeedPage,
    FeedShown,
    FeedWish,
    PageAddress,
)
from feedmill.serve.rest.fields import Id, PathId
from feedmill.serve.rest.parts import Reader, TheApp, TheWork, Writer
from feedmill.serve.rest.problems import described
from feedmill.serve.rest.setting_forms import PreviewShown, RulesForm
from feedmill.store.feed_settings import settings_of
from feedmill.store.feeds import feeds_of_ids
from feedmill.store.subscriptions import subscriptions_of

router = APIRouter(prefix="/feeds", tags=["feeds"])


def _answers(request: Request) -> Answers:
    answers: Answers = request.app.state.answers
    return answers


TheAnswers = Annotated[Answers, Depends(_answers)]


class Skipped(BaseModel):
    paused: int
    too_soon: int


class RefreshStarted(BaseModel):
    """A job that can be watched at `/api/jobs/{job_id}/events`."""

    job_id: int
    queued: int
    already_running: int
    skipped: Skipped

    @classmethod
    def of(cls, started: Started) -> "RefreshStarted":
        skipped = Skipped(paused=started.paused, too_soon=started.too_soon)
        return cls(
            job_id=started.job_id, queued=started.queued, already_running=started.already_running, skipped=skipped
        )


class WhichFeeds(BaseModel):
    folder_id: Id | None = Field(default=None, description="Only what is in this folder and in those inside it.")


@router.get("", response_model=FeedPage, responses={304: {"description": "As it was"}})
async def list_feeds(app: TheApp, who: Reader, request: Request) -> Response:
    """All subscriptions, with what is unread, how each fares, and when it is fetched next and why."""
    # The hook is for sentences, which are more than text.
    body = msgspec.json.encode({"items": await subscriptions_of(app.db, who.user.id), "next": None}, enc_hook=str)
    headers = {"ETag": f'"{blake2b(body, digest_size=16).hexdigest()}"', "Cache-Control": "private, no-cache"}
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


@router.post("", status_code=201, responses=described(409))
async def subscribe(app: TheApp, work: TheWork, answers: TheAnswers, who: Writer, wish: FeedWish) -> FeedAdded:
    """Subscribes to the feed at an address, or to the one feed of the page there.

    The site is asked once: the answer that shows that there is a feed is its first fetch. Codes of problems:
    `already_subscribed` (with `subscription_id`), `several_feeds` (with `candidates`), `not_a_feed`, `unreachable`,
    `refused_address`, `too_large`, `bad_address`, `quota`, `quota_bytes`.
    """
    done = await spine.subscribe(app.tools, who.user, await _wish(app, who.user.id, wish), answers)
    shown = FeedShown.of(done.subscription)
    if done.is_fetched:
        return FeedAdded(feed=shown, status="ready")
    started = await refresh_one(work, app.db, who.user.id, done.subscription)
    return FeedAdded(feed=shown, status="queued", job_id=started.job_id)


@router.post("/discover")
async def discover_feeds(app: TheApp, answers: TheAnswers, who: Writer, page: PageAddress) -> DiscoveryShown:
    """The feeds at an address, or of the page there, and every address that was tried."""
    return DiscoveryShown.of(await spine.discover(app.tools, who.user, page.url, answers))


@router.post("/refresh-all", status_code=202, responses=described(404))
async def refresh_all(app: TheApp, work: TheWork, who: Writer, which: WhichFeeds | None = None) -> RefreshStarted:
    """Has all feeds fetched now, or those of a folder; asking again joins the job that runs."""
    folder_id = which.folder_id if which else None
    chosen = await own.subscriptions_in(app.db, who.user.id, folder_id)
    return RefreshStarted.of(await refresh_many(work, app.db, who.user.id, chosen, folder_id))


@router.get("/{subscription_id:int}", responses=described(404))
async def read_feed(app: TheApp, who: Reader, subscription_id: PathId) -> FeedDetail:
    return await _detail(app, who.user.id, await own.find_subscription(app.db, who.user.id, subscription_id))


@router.patch("/{subscription_id:int}", responses=described(404))
async def change_feed(app: TheApp, who: Writer, subscription_id: PathId, changes: FeedChanges) -> FeedDetail:
    """Changes what a person chose for a feed; of all subscribers' intervals the smallest counts."""
    user_id, now = who.user.id, app.tools.clock()
    given = changes.model_dump(include={"title", "interval_seconds", "archive_policy", "paused"}, exclude_unset=True)
    if given.get("paused", False) is None:
        del given["paused"]
    await own.find_subscription(app.db, user_id, subscription_id)
    await check_folders(app.db, user_id, changes.folder_ids or [])
    settings = changes.settings.changes() if changes.settings else {}
    await own.wanted_settings(app.db, user_id, subscription_id, settings)
    if "http_options" in changes.model_fields_set:
        options = changes.http_options.kept() if changes.http_options else None
        await own.change_login(app.db, user_id, subscription_id, options, now)
    change = own.Change(given, changes.folder_ids, settings)
    changed = await own.change(app.db, app.tools.rules, user_id, subscription_id, change, now)
    return await _detail(app, user_id, changed)


@router.post("/{subscription_id:int}/rules/preview", responses=described(404))
async def preview_rules(app: TheApp, who: Reader, subscription_id: PathId, tried: RulesForm) -> PreviewShown:
    """What these rules would have done with the feed's last 50 entries; it changes nothing."""
    subscription = await own.find_subscription(app.db, who.user.id, subscription_id)
    found = await preview(app.db, subscription.feed_id, tried.block_rules or "", tried.keep_rules or "")
    return PreviewShown.of(found)


@router.delete("/{subscription_id:int}", status_code=204, responses=described(404))
async def unsubscribe(app: TheApp, who: Writer, subscription_id: PathId) -> None:
    """Ends a subscription; what was starred, labelled or put off for later stays."""
    await own.unsubscribe(app.db, who.user.id, subscription_id)


@router.post("/{subscription_id:int}/refresh", status_code=202, responses=described(404))
async def refresh_feed(app: TheApp, work: TheWork, who: Writer, subscription_id: PathId) -> RefreshStarted:
    """Has the feed fetched now; not again when that was seconds ago."""
    subscription = await own.find_subscription(app.db, who.user.id, subscription_id)
    return RefreshStarted.of(await refresh_one(work, app.db, who.user.id, subscription))


async def _wish(app: App, user_id: int, wish: FeedWish) -> spine.Wish:
    await check_folders(app.db, user_id, wish.folder_ids)
    filed = set(wish.folder_ids)
    if wish.folder:
        path = shortened(tuple(name for name in map(str.strip, wish.folder.split("/")) if name))
        filed |= {folder for made, folder in (await ensure_folders(app.db, user_id, [path])).items() if made == path}
    return spine.Wish(
        wish.url,
        Choice(wish.title, wish.interval_seconds, wish.archive_policy),
        tuple(sorted(filed)),
        wish.http_options.kept() if wish.http_options else None,
        wish.anyway,
        wish.settings.settings() if wish.settings else NO_SETTINGS,
    )


async def _detail(app: App, user_id: int, subscription: Subscription) -> FeedDetail:
    settings = await settings_of(app.db, user_id, subscription.id)
    if not subscription.is_private:
        return FeedDetail.whole(subscription, settings, None)
    [feed] = await feeds_of_ids(app.db, [subscription.feed_id])
    return FeedDetail.whole(subscription, settings, show_options(feed.http_options))
