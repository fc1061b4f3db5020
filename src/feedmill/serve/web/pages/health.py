"""`/feed/n/health`: how a feed fares, why it is fetched when it is, and what can be done about it."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput
from feedmill.library.discovery import Answers
from feedmill.library.health import ask_for_all, read_health, report
from feedmill.library.subscribe import Discovery, discover
from feedmill.library.subscriptions import Change, change, find_subscription
from feedmill.library.unfit import NotSubscribable
from feedmill.model.account import User
from feedmill.model.subscription import Subscription
from feedmill.serve.refreshing import refresh_one
from feedmill.serve.web.flash import Said, say, say_failed
from feedmill.serve.web.health_plots import HealthPlots
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import form, go, show, signed_in, speech, text, the_app, the_work
from feedmill.serve.web.telling import tell
from feedmill.store.fetch_log import latest_fetches

LONGEST_URL = 2048
# So long a person waits for the answer; later the page tells of it when it is loaded again.
PATIENCE = 5.0


async def health(request: Request) -> Response:
    caller = await signed_in(request)
    return await _page(request, caller.user)


async def _page(
    request: Request, user: User, asked: str = "", tested: Discovery | None = None, error: str = ""
) -> Response:
    now = datetime.now(UTC)
    found = await read_health(the_app(request).db, user.id, path_id(request), now)
    t, when = speech(request)
    path = f"/feed/{found.subscription.id}"
    return await show(
        request, "health.html", 422 if error else 200, title=found.subscription.title, health=found,
        plots=HealthPlots(found, t, when), report=report(found, now), asked=asked, tested=tested, error=error,
        active=path, here=f"{path}/health",
    )  # fmt: skip


async def act(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await form(request)
    action = ACTIONS.get(text(sent, "do"))
    if action is None:
        raise BadInput("there is no such action", "do")
    id = path_id(request)
    return go(f"/feed/{id}/health", await action(request, caller.user, id))


async def _refresh(request: Request, user: User, id: int) -> Said:
    app = the_app(request)
    return await _fetch(request, user, await find_subscription(app.db, user.id, id))


async def _refetch(request: Request, user: User, id: int) -> Said:
    return await _fetch(request, user, await ask_for_all(the_app(request).db, user.id, id))


async def _fetch(request: Request, user: User, mine: Subscription) -> Said:
    """Has the feed fetched, and says what came of it if that takes no longer than a moment."""
    db, work = the_app(request).db, the_work(request)
    started = await refresh_one(work, db, user.id, mine)
    if started.paused:
        return say_failed("health.refresh_paused")
    if started.too_soon:
        return say_failed("health.refresh_too_soon")
    try:
        async with asyncio.timeout(PATIENCE), aclosing(work.watch(started.job_id)) as progress:
            async for _ in progress:
                pass
    except TimeoutError:
        return say("health.refresh_runs")
    last = await latest_fetches(db, mine.feed_id, 1)
    if not last or last[0].failed:
        return say_failed("health.refresh_failed")
    return say("health.refreshed", n=last[0].new_entries)


async def _pause(request: Request, user: User, id: int) -> Said:
    await _set_paused(request, user, id, paused=True)
    return say("health.paused")


async def _resume(request: Request, user: User, id: int) -> Said:
    await _set_paused(request, user, id, paused=False)
    return say("health.resumed")


async def _set_paused(request: Request, user: User, id: int, *, paused: bool) -> None:
    app = the_app(request)
    await change(app.db, app.tools.rules, user.id, id, Change({"paused": paused}), datetime.now(UTC))


ACTIONS: dict[str, Callable[[Request, User, int], Awaitable[Said]]] = {
    "refresh": _refresh, "refetch": _refetch, "pause": _pause, "resume": _resume,
}  # fmt: skip


async def look_elsewhere(request: Request) -> Response:
    """Looks at another address, or at the feed's site, and shows what is there; nothing is changed."""
    caller = await signed_in(request)
    sent = await form(request)
    app = the_app(request)
    mine = await find_subscription(app.db, caller.user.id, path_id(request))
    asked = (mine.site_url or "") if text(sent, "at") == "site" else text(sent, "url")
    url = asked.strip()[:LONGEST_URL]
    try:
        found = await discover(app.tools, caller.user, url, Answers())
    except NotSubscribable as error:
        return await _page(request, caller.user, url, error=tell(str(error), speech(request)[0]))
    return await _page(request, caller.user, url, found)


routes = [
    Route("/feed/{id:int}/health", health, methods=["GET"]),
    Route("/feed/{id:int}/health", act, methods=["POST"]),
    Route("/feed/{id:int}/health/test", look_elsewhere, methods=["POST"]),
]
