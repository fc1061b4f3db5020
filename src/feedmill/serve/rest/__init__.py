"""The JSON API under `/api`. In: requests of programs. Out: JSON, or a problem.

One file a subject, each with its router; `ROUTERS` names them all. A route asks for its caller with
`Depends(needs(READ))`, answers with a pydantic model, and leaves whatever it does to `library/` or `pools/`.
"""

from fastapi import FastAPI

from feedmill import __version__
from feedmill.app import App
from feedmill.serve.rest import docs, me, pool_items, pools
from feedmill.serve.rest.openapi import describe, operation_id
from feedmill.serve.rest.problems import described, install
from feedmill.serve.rest.rates import Rates
from feedmill.serve.work import Work

ROUTERS = (me.router, pools.router, pool_items.router)

# For people who are not signed in: that is what they are for.
OPEN: frozenset[str] = frozenset()


def create(app: App, work: Work) -> FastAPI:
    """The API, to be mounted at `/api`."""
    api = FastAPI(
        title="Feedmill", version=__version__, docs_url=None, redoc_url=None, openapi_url="/openapi.json",
        generate_unique_id_function=operation_id, responses=described(401, 403, 422, 429, 503),
    )  # fmt: skip
    api.state.app, api.state.work = app, work
    api.add_middleware(Rates, per_minute=app.settings.api_per_minute)
    install(api)
    for router in ROUTERS:
        api.include_router(router)
    api.include_router(docs.router)
    describe(api, OPEN)
    return api
