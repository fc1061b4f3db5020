"""`/feed/n/health` and `/health-of-feeds`: the health of one feed and of all, and actions on a feed."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from datetime import UTC, datetime
from urllib.parse import urljoin

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.collect.discovery.response_cache import ResponseCache
from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.feeds.health import force_full_fetch, health_report, last_fetch, read_feed_health
from feedmill.library.feeds.health_overview import health_overview
from feedmill.library.jobs.start_refresh import refresh_one
from feedmill.library.jobs.user_jobs import find_job
from feedmill.library.subscriptions.change_subscription import SubscriptionChange, update_subscription
from feedmill.library.subscriptions.errors import NotSubscribable
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.library.subscriptions.subscribe import DiscoveryResult, discover
from feedmill.model.subscription import Subscription
from feedmill.model.user import User
from feedmill.serve.web.core.app_state import the_app, the_jobs
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import FlashMessage, flash_error, flash_success
from feedmill.serve.web.core.form_fields import NEXT_PATH, TEXT, accepts_form, one_of
from feedmill.serve.web.core.localization import translator_and_dates
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import local_path, redirect
from feedmill.serve.web.core.render_page import render_page
from feedmill.serve.web.feeds.health_plots import HealthPlots

LONGEST_URL = 2048
# How long the page waits for a fetch; a later result is shown when it is reloaded.
WAIT_SECONDS = 5.0


async def show_health(request: Request) -> Response:
    caller = await signed_in(request)
    return await _page(request, caller.user)


async def _page(
    request: Request, user: User, asked: str = "", tested: DiscoveryResult | None = None, error: str = ""
) -> Response:
    now = datetime.now(UTC)
    found = await read_feed_health(the_app(request).db, user.id, path_id(request), now)
    t, when = translator_and_dates(request)
    path = f"/feed/{found.subscription.id}"
    return await render_page(
        request,
        "feeds/health.html",
        422 if error else 200,
        title=found.subscription.title,
        health=found,
        plots=HealthPlots(found, t, when),
        report=health_report(found, now),
        asked=asked,
        tested=tested,
        error=error,
        active=path,
        here=f"{path}/health",
    )


@accepts_form({"do": one_of("refresh", "refetch", "pause", "resume"), "next": NEXT_PATH})
async def health_action(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    action = ACTIONS.get(form_text(sent, "do"))
    if action is None:
        raise BadInput(Message("error.no_such_action"), "do")
    id = path_id(request)
    message = await action(request, caller.user, id)
    return redirect(local_path(form_text(sent, "next"), f"/feed/{id}/health"), message)


async def _refresh(request: Request, user: User, id: int) -> FlashMessage:
    app = the_app(request)
    return await _fetch(request, user, await find_subscription(app.db, user.id, id))


async def _refetch(request: Request, user: User, id: int) -> FlashMessage:
    return await _fetch(request, user, await force_full_fetch(the_app(request).db, user.id, id))


async def _fetch(request: Request, user: User, subscription: Subscription) -> FlashMessage:
    """Starts a fetch, and shows its outcome if it ends in time."""
    db, work = the_app(request).db, the_jobs(request)
    started = await refresh_one(work, db, user.id, subscription)
    if started.paused:
        return flash_error("health.refresh_paused")
    if started.too_soon:
        return flash_error("health.refresh_too_soon")
    try:
        async with asyncio.timeout(WAIT_SECONDS), aclosing(work.watch(started.job_id)) as progress:
            async for _ in progress:
                pass
    except TimeoutError:
        job = await find_job(db, user.id, started.job_id)
        return flash_success("health.refresh_waits" if job.waiting else "health.refresh_runs")
    last = await last_fetch(db, subscription)
    if last is None or last.failed:
        return flash_error("health.still_failing" if subscription.consecutive_failures else "health.refresh_failed")
    return flash_success("health.refreshed", n=last.new_entries)


async def _pause(request: Request, user: User, id: int) -> FlashMessage:
    await _set_paused(request, user, id, paused=True)
    return flash_success("health.paused")


async def _resume(request: Request, user: User, id: int) -> FlashMessage:
    await _set_paused(request, user, id, paused=False)
    return flash_success("health.resumed")


async def _set_paused(request: Request, user: User, id: int, *, paused: bool) -> None:
    app = the_app(request)
    await update_subscription(
        app.db, app.tools.rules, user.id, id, SubscriptionChange({"paused": paused}), datetime.now(UTC)
    )


ACTIONS: dict[str, Callable[[Request, User, int], Awaitable[FlashMessage]]] = {
    "refresh": _refresh,
    "refetch": _refetch,
    "pause": _pause,
    "resume": _resume,
}


@accepts_form({"url": TEXT, "at": one_of("site").optional})
async def test_address(request: Request) -> Response:
    """Discovers feeds at another URL, or at the feed's site, and shows them; changes nothing."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    app = the_app(request)
    subscription = await find_subscription(app.db, caller.user.id, path_id(request))
    asked = _site_address(subscription) if form_text(sent, "at") == "site" else form_text(sent, "url")
    url = asked.strip()[:LONGEST_URL]
    try:
        found = await discover(app.tools, caller.user, url, ResponseCache())
    except NotSubscribable as error:
        t, _ = translator_and_dates(request)
        return await _page(request, caller.user, url, error=t.render(error.message))
    return await _page(request, caller.user, url, found)


def _site_address(subscription: Subscription) -> str:
    """The URL of the feed's site, else the front page of its host."""
    return subscription.site_url or urljoin(subscription.url, "/")


async def show_health_overview(request: Request) -> Response:
    caller = await signed_in(request)
    found = await health_overview(the_app(request).db, caller.user.id, datetime.now(UTC))
    return await render_page(request, "feeds/health_overview.html", overview=found)


routes = [
    Route("/health-of-feeds", show_health_overview),
    Route("/feed/{id:int}/health", show_health, methods=["GET"]),
    Route("/feed/{id:int}/health", health_action, methods=["POST"]),
    Route("/feed/{id:int}/health/test", test_address, methods=["POST"]),
]
