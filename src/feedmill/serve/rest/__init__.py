"""The JSON API under `/api`. In: requests of programs. Out: JSON, or a problem.

One file a subject, each with its router; `ROUTERS` names them all. A route asks for its caller with
`Depends(needs(READ))`, answers with a pydantic model, and leaves whatever it does to `library/` or `pools/`.
"""

from fastapi import Depends, FastAPI

from feedmill import __version__
from feedmill.app import App
from feedmill.library.discovery import Answers
from feedmill.serve.bodies import Bodies
from feedmill.serve.keys import signing_key
from feedmill.serve.rest import (
    access,
    accounts,
    admin_feeds,
    admin_hosts,
    admin_house,
    admin_upkeep,
    admin_users,
    bookmarks,
    docs,
    entries,
    feeds,
    folders,
    jobs,
    labels,
    marks,
    me,
    opml,
    pool_items,
    pools,
    queue,
    search,
    sessions,
    starred,
    tokens,
    webhooks,
)
from feedmill.serve.rest.openapi import describe, operation_id
from feedmill.serve.rest.parts import kept_nowhere
from feedmill.serve.rest.problems import described, install
from feedmill.serve.rest.rates import Rates
from feedmill.serve.work import Work

ROUTERS = (
    accounts.router,
    sessions.router,
    access.router,
    tokens.router,
    me.router,
    # Before the feeds: their paths would else be taken for the id of one.
    opml.router,
    feeds.router,
    folders.router,
    jobs.router,
    queue.router,
    pools.router,
    pool_items.router,
    webhooks.router,
    # Before the entries, for the same reason.
    starred.router,
    entries.router,
    marks.router,
    labels.router,
    search.router,
    bookmarks.router,
    admin_users.router,
    admin_feeds.router,
    admin_hosts.router,
    admin_house.router,
    admin_upkeep.router,
)

# For people who are not signed in: that is what they are for.
OPEN = frozenset(
    {
        "GET /setup", "POST /setup", "POST /register", "POST /sessions",
        "POST /auth/token", "POST /auth/refresh", "POST /auth/revoke",
    }
)  # fmt: skip


def create(app: App, work: Work) -> FastAPI:
    """The API, to be mounted at `/api`."""
    api = FastAPI(
        title="Feedmill", version=__version__, docs_url=None, redoc_url=None, openapi_url="/openapi.json",
        generate_unique_id_function=operation_id, responses=described(400, 401, 403, 404, 413, 422, 429, 503),
        # A redirect would go to whatever the Host header says.
        redirect_slashes=False, dependencies=[Depends(kept_nowhere)],
    )  # fmt: skip
    # Now rather than when the first token is signed, so that a key that can't be kept is told at the start.
    signing_key(app.settings)
    api.state.app, api.state.work = app, work
    api.state.answers = Answers()
    api.add_middleware(Bodies, besides=frozenset({"/api/feeds/import"}))
    api.add_middleware(Rates, per_minute=app.settings.api_per_minute)
    install(api)
    for router in ROUTERS:
        api.include_router(router)
    api.include_router(docs.router)
    describe(api, OPEN)
    return api
