"""The JSON API under `/api`. In: requests of programs. Out: JSON, or a problem.

One file a subject, each with its router; `ROUTERS` names them all. A route asks for its caller with
`Depends(needs(READ))`, answers with a pydantic model, and leaves whatever it does to `library/` or `pools/`.
"""

from fastapi import FastAPI
from fastapi.routing import APIRoute

from feedmill import __version__
from feedmill.app import App
from feedmill.serve.rest import me, pool_items, pools
from feedmill.serve.rest.problems import Problem, described, install
from feedmill.serve.work import Work

ROUTERS = (me.router, pools.router, pool_items.router)


def create(app: App, work: Work) -> FastAPI:
    """The API, to be mounted at `/api`."""
    api = FastAPI(
        title="Feedmill", version=__version__, docs_url=None, redoc_url=None, openapi_url="/openapi.json",
        generate_unique_id_function=_operation_id, responses=described(401, 403, 422, 429, 503),
    )  # fmt: skip
    api.state.app, api.state.work = app, work
    install(api)
    for router in ROUTERS:
        api.include_router(router)
    _describe_problems(api)
    return api


def _operation_id(route: APIRoute) -> str:
    return route.name


def _describe_problems(api: FastAPI) -> None:
    """Puts the form of a problem among OpenAPI's schemas, where every route refers to it."""
    draw = api.openapi

    def openapi() -> dict[str, object]:
        drawn = draw()
        schemas = drawn.setdefault("components", {}).setdefault("schemas", {})
        own = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(own.pop("$defs", {}))
        schemas["Problem"] = own
        return drawn

    api.openapi = openapi  # type: ignore[method-assign]
