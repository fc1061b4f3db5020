"""`/pools`: shows all pools live."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.model.user import ADMIN
from feedmill.serve.http.auth import session_caller_of
from feedmill.serve.http.cached_query import CachedQuery
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in_pool_user
from feedmill.serve.web.core.plots import sparkline
from feedmill.serve.web.core.render_page import render_page, render_template
from feedmill.serve.web.core.sse_fragments import event_stream, fragment_event
from feedmill.serve.web.pools.dashboard_figures import PoolDashboard, fill_gauge, read_dashboard

DASHBOARD_PATH = "/pools"
INTERVAL_SECONDS = 2.0
# Then the browser reconnects, and is authenticated again.
MAX_UPDATES = 300


async def show_dashboard(request: Request) -> Response:
    caller = await signed_in_pool_user(request)
    app = the_app(request)
    found = (await read_dashboard(app.pools)).only(await app.pools.access_of(caller))
    return await render_page(request, "pools/dashboard.html", **_values(request, found))


async def stream_dashboard(request: Request) -> Response:
    await signed_in_pool_user(request)
    return event_stream(_events(request, _cached_dashboard(request)))


async def _events(request: Request, sampled: CachedQuery[PoolDashboard]) -> AsyncGenerator[bytes, None]:
    for _ in range(MAX_UPDATES):
        await asyncio.sleep(INTERVAL_SECONDS)
        found = await sampled.read()
        # Checked each time, so that a session or right that ends also ends the stream.
        caller = await session_caller_of(request)
        if caller is None:
            return
        if found is not None:
            shown = found.only(await the_app(request).pools.access_of(caller))
            yield fragment_event(render_template(request, "pools/dashboard_groups.html", **_values(request, shown)))


def _cached_dashboard(request: Request) -> CachedQuery[PoolDashboard]:
    """One query for all viewers."""
    state = request.app.state
    if not hasattr(state, "pool_board"):
        state.pool_board = CachedQuery(lambda: read_dashboard(state.app.pools))
    sampled: CachedQuery[PoolDashboard] = state.pool_board
    return sampled


def _values(request: Request, found: PoolDashboard) -> dict[str, Any]:
    may_change = ADMIN in request.state.caller.scopes
    return {"board": found, "gauge": fill_gauge, "sparkline": sparkline, "may_change": may_change}


routes = [
    Route(DASHBOARD_PATH, show_dashboard),
    Route(f"{DASHBOARD_PATH}/events", stream_dashboard),
]
