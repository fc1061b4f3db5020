"""`GET /health`, `/health/live`, `/health/ready`: checks the server and its dependencies."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from sqlalchemy import literal, select
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from feedmill import __version__
from feedmill.app import App
from feedmill.archive.store_ownership import read_owner
from feedmill.errors import CoordinationUnavailable, InfrastructureError

CHECK_SECONDS = 5
OK = "ok"
PING = select(literal(1).label("one"))


async def health(request: Request) -> JSONResponse:
    """The state of each dependency. 503 without the database; without another dependency the server still works."""
    states = await check_all(request.app.state.app)
    return _health_response(states, version=__version__)


async def ready(request: Request) -> JSONResponse:
    """200 if requests can be served, which needs the database."""
    return _health_response({"database": await _checked(_database, request.app.state.app)})


async def live(request: Request) -> JSONResponse:
    """200 as long as the event loop runs."""
    return _health_response({})


async def check_all(app: App) -> dict[str, str]:
    """The state of each dependency: `ok`, or what is wrong."""
    checks: dict[str, Callable[[App], Awaitable[str]]] = {"database": _database, "objects": _objects}
    if app.settings.redis.get_secret_value():
        checks |= {"redis": _redis, "workers": _workers, "scheduler": _scheduler}
    states = await asyncio.gather(*(_checked(check, app) for check in checks.values()))
    return dict(zip(checks, states, strict=True))


def overall_status(states: Mapping[str, str]) -> str:
    if states.get("database", OK) != OK:
        return "failing"
    return OK if all(state == OK for state in states.values()) else "degraded"


def _health_response(states: Mapping[str, str], **more: str) -> JSONResponse:
    status = overall_status(states)
    body = {"status": status, **more, **states}
    return JSONResponse(body, 503 if status == "failing" else 200, headers={"Cache-Control": "no-store"})


async def _checked(check: Callable[[App], Awaitable[str]], app: App) -> str:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await check(app)
    except TimeoutError:
        return f"no answer within {CHECK_SECONDS} s"
    except InfrastructureError as error:
        return str(error)


async def _database(app: App) -> str:
    await app.db.query(PING)
    return OK


async def _objects(app: App) -> str:
    await read_owner(app.blobs)
    return OK


async def _redis(app: App) -> str:
    if not await app.coordination.answers():
        raise CoordinationUnavailable("Redis does not answer")
    return OK


async def _workers(app: App) -> str:
    return await _check_role(app, "worker")


async def _scheduler(app: App) -> str:
    return await _check_role(app, "scheduler")


async def _check_role(app: App, role: str) -> str:
    """Whether a process with that role runs; `feedmill serve` counts for all roles."""
    present = await app.coordination.presence.count_by_role()
    return OK if {role, "serve"} & set(present) else f"no {role} is running"


routes = [Route("/health", health), Route("/health/live", live), Route("/health/ready", ready)]
