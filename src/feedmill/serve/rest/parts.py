"""What the routes of the API need, as FastAPI's dependencies."""

from typing import Annotated

from fastapi import Depends, Request, Response

from feedmill.app import App
from feedmill.model.account import ADMIN, POOLS, READ, WRITE, Caller
from feedmill.serve.auth import needs
from feedmill.serve.work import Work


def _app(request: Request) -> App:
    app: App = request.app.state.app
    return app


def _work(request: Request) -> Work:
    work: Work = request.app.state.work
    return work


async def kept_nowhere(response: Response) -> None:
    """Has no browser and no proxy keep an answer, unless the route says otherwise."""
    response.headers["Cache-Control"] = "no-store"


TheApp = Annotated[App, Depends(_app)]
TheWork = Annotated[Work, Depends(_work)]
Reader = Annotated[Caller, Depends(needs(READ))]
Writer = Annotated[Caller, Depends(needs(WRITE))]
PoolUser = Annotated[Caller, Depends(needs(POOLS))]
Admin = Annotated[Caller, Depends(needs(ADMIN))]
