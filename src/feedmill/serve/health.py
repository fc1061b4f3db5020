"""`GET /health`: is this server alive, and does what it needs answer?"""

import asyncio

from sqlalchemy import literal, select
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from feedmill import __version__
from feedmill.app import App
from feedmill.errors import DatabaseError

PATIENCE = 5
PING = select(literal(1).label("one"))


async def health(request: Request) -> JSONResponse:
    """200 when every dependency answers, else 503 with the one that does not."""
    app: App = request.app.state.app
    database = await _database(app)
    healthy = database == "ok"
    body = {"status": "ok" if healthy else "failing", "version": __version__, "database": database}
    return JSONResponse(body, 200 if healthy else 503, headers={"Cache-Control": "no-store"})


async def live(request: Request) -> JSONResponse:
    """200 as long as the event loop turns."""
    return JSONResponse({"status": "ok"}, headers={"Cache-Control": "no-store"})


async def _database(app: App) -> str:
    try:
        async with asyncio.timeout(PATIENCE):
            await app.db.query(PING)
    except (DatabaseError, TimeoutError) as error:
        return str(error) or f"no answer within {PATIENCE} s"
    return "ok"


routes = [Route("/health", health), Route("/health/live", live)]
