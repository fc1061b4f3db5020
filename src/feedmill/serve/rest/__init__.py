"""The JSON API under `/api` (FastAPI): one module or folder per noun, with routes and schemas side by side.

`ROUTERS` lists the router of each module. A route declares its caller (`Reader`, `Writer`, `PoolUser`, `PoolFiller` or
`Admin` of `core/dependencies.py`), returns a pydantic model, and leaves the work to `library/` or `pools/`.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from starlette.routing import BaseRoute

from feedmill.app import App
from feedmill.collect.discovery.response_cache import ResponseCache
from feedmill.library.jobs.job_port import JobPort
from feedmill.serve.http.body_limits import BodyLimit
from feedmill.serve.http.rate_limits import RateLimit
from feedmill.serve.rest import bookmarks, jobs, notifications, output_feeds, search, services, webhooks
from feedmill.serve.rest.admin import audit_log, hosts, queue, server_log, storage, users
from feedmill.serve.rest.admin import feeds as admin_feeds
from feedmill.serve.rest.admin import settings as admin_settings
from feedmill.serve.rest.core import docs_page
from feedmill.serve.rest.core.dependencies import set_no_store
from feedmill.serve.rest.core.errors import install_error_handlers, problem_responses
from feedmill.serve.rest.core.openapi import complete_openapi, operation_id
from feedmill.serve.rest.core.unknown_parameters import refuse_unknown_parameters
from feedmill.serve.rest.entries import labels, marks, read_entries, sync_entries
from feedmill.serve.rest.feeds import fetch_log, schedule_feed, subscribed_feeds
from feedmill.serve.rest.filters import effects, filter_jobs, filters
from feedmill.serve.rest.pools import grants, groups, items, texts
from feedmill.serve.rest.subscriptions import folders, opml
from feedmill.serve.rest.users import access_tokens, api_keys, me, registration, sessions, setup

ROUTERS = (
    setup.router,
    registration.router,
    sessions.router,
    access_tokens.router,
    api_keys.router,
    me.router,
    # Before the feeds, whose routes would take these paths for an id.
    opml.router,
    subscribed_feeds.router,
    fetch_log.router,
    folders.router,
    jobs.router,
    schedule_feed.router,
    groups.router,
    items.router,
    texts.router,
    grants.router,
    services.router,
    notifications.router,
    webhooks.router,
    output_feeds.router,
    read_entries.router,
    sync_entries.router,
    marks.router,
    labels.router,
    search.router,
    filter_jobs.router,
    filters.router,
    effects.router,
    bookmarks.router,
    users.router,
    admin_feeds.router,
    hosts.router,
    queue.router,
    storage.router,
    audit_log.router,
    server_log.router,
    admin_settings.router,
)

# These read their larger bodies themselves, after they know the caller, and limit them.
LIMITED_BY_ROUTE = re.compile(r"/api/feeds/import|/api/pools/[^/]+/(titles|contents)")

# For visitors who are not signed in.
PUBLIC_ROUTES = frozenset(
    {
        "GET /setup",
        "POST /setup",
        "POST /register",
        "POST /sessions",
        "POST /auth/token",
        "POST /auth/refresh",
        "POST /auth/revoke",
    }
)


@cache
def routes() -> Sequence[BaseRoute]:
    """Every route, built once per process: they hold no state of an application."""
    every = APIRouter(
        generate_unique_id_function=operation_id,
        responses=problem_responses(400, 401, 403, 404, 413, 422, 429, 503),
        dependencies=[Depends(set_no_store), Depends(refuse_unknown_parameters)],
    )
    for router in (*ROUTERS, docs_page.router):
        every.include_router(router)
    return tuple(every.routes)


@cache
def description() -> dict[str, Any]:
    """The OpenAPI description, generated at the first request for it."""
    return complete_openapi(routes(), PUBLIC_ROUTES)


def create_api(app: App, work: JobPort) -> FastAPI:
    """The API, to be mounted at `/api`."""
    # No redirects of a trailing slash: they would lead to the host in the Host header.
    api = FastAPI(
        docs_url=None, redoc_url=None, openapi_url="/openapi.json", redirect_slashes=False, routes=[*routes()]
    )
    api.state.app, api.state.work = app, work
    api.state.discovery_cache = ResponseCache()
    api.add_middleware(BodyLimit, exempt=LIMITED_BY_ROUTE)
    api.add_middleware(RateLimit, per_minute=app.settings.api_per_minute)
    install_error_handlers(api)
    api.openapi = description  # type: ignore[method-assign]
    return api
