"""`/counts`: the numbers in the sidebar, at once or as they change (`/counts/events`)."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from functools import partial

from starlette.datastructures import State
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from feedmill.library.entries.unread_counts import (
    MOST_COUNTED,
    MOST_MATCHES,
    SlowCounts,
    count_labels_and_searches,
    count_today_and_later,
    unread_counts_of_user,
)
from feedmill.model.user import User
from feedmill.serve.http.auth import session_caller_of
from feedmill.serve.http.cached_query import CachedQuery
from feedmill.serve.http.sse import format_event
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.localization import start_of_day
from feedmill.serve.web.core.sse_fragments import event_stream
from feedmill.serve.web.sidebar.count_watcher import CountWatcher

# How long labels and saved searches of a user are not counted again.
SLOW_AGE = timedelta(seconds=20)
MOST_USERS = 1000
# Without a change the stream says so often that it is alive; scripts that hear nothing ask for the counts.
ALIVE_SECONDS = 25.0
ALIVE = format_event("alive", None)
# Changes that follow each other closely are sent together.
COALESCE_SECONDS = 0.5
# Then the browser comes again.
MAX_ROUNDS = 1000


async def show_counts(request: Request) -> Response:
    return await sidebar_counts_response(request, (await signed_in(request)).user)


async def sidebar_counts_response(request: Request, user: User, **more: object) -> Response:
    """The counts of the sidebar as JSON, for scripts, with whatever `more` they need. Other windows hear of it."""
    if request.method == "POST":
        count_watcher(request.app.state).notify([user.id])
    return JSONResponse(await _counts(request, user.id) | more)


async def stream_counts(request: Request) -> Response:
    caller = await signed_in(request)
    return event_stream(_events(request, caller.user.id))


async def _events(request: Request, user_id: int) -> AsyncGenerator[bytes, None]:
    """The counts now and after each change. What is slow to count is counted once more a while later."""
    sent, is_settled = b"", False
    with count_watcher(request.app.state).listen(user_id) as changed:
        for _ in range(MAX_ROUNDS):
            # Asked anew each time: a session that ends does so while somebody watches, too.
            if await session_caller_of(request) is None:
                return
            if changed.is_set() or not is_settled:
                is_settled = not (changed.is_set() or not sent)
                changed.clear()
                await slow_counts(request.app.state, user_id).read()
                event = format_event("counts", await _counts(request, user_id))
            yield ALIVE if event == sent else event
            sent = event
            if await _is_set_within(changed, ALIVE_SECONDS):
                await asyncio.sleep(COALESCE_SECONDS)


async def _is_set_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False


async def _counts(request: Request, user_id: int) -> dict[str, object]:
    counts, views = await asyncio.gather(
        unread_counts_of_user(the_app(request).db, user_id), view_counts(request, user_id)
    )
    return {"unread": counts.unread, "feeds": counts.feeds, "folders": counts.folders, "views": views}


async def view_counts(request: Request, user_id: int) -> dict[str, str]:
    """The counts of views, labels and saved searches, as they are shown; the last two as they were counted last."""
    db, now = the_app(request).db, datetime.now(UTC)
    today, later = await count_today_and_later(db, user_id, start_of_day(request), now)
    slow = slow_counts(request.app.state, user_id).last or SlowCounts()
    shown = {"today": _shown(today, MOST_COUNTED), "later": _shown(later, MOST_COUNTED)}
    shown |= {f"label-{id}": _shown(n, MOST_COUNTED) for id, n in slow.labels.items()}
    return shown | {f"search-{id}": _shown(n, MOST_MATCHES) for id, n in slow.searches.items()}


def _shown(n: int, most: int) -> str:
    return "" if not n else f"{n:,}" if n < most else f"{most - 1:,}+"


def count_watcher(state: State) -> CountWatcher:
    """One for all streams of this process."""
    watcher: CountWatcher = state.count_watcher
    return watcher


def slow_counts(state: State, user_id: int) -> CachedQuery[SlowCounts]:
    """The counts that take a query each, cached for each user."""
    if not hasattr(state, "slow_counts") or len(state.slow_counts) > MOST_USERS:
        state.slow_counts = {}
    cached: dict[int, CachedQuery[SlowCounts]] = state.slow_counts
    if user_id not in cached:
        cached[user_id] = CachedQuery(partial(_count_slowly, state, user_id), SLOW_AGE)
    return cached[user_id]


async def _count_slowly(state: State, user_id: int) -> SlowCounts:
    return await count_labels_and_searches(state.app.db, user_id, datetime.now(UTC))


routes = [
    Route("/counts", show_counts, methods=["GET"]),
    Route("/counts/events", stream_counts, methods=["GET"]),
]
