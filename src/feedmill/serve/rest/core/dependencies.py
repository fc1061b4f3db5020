"""FastAPI dependencies of the routes: the app, the job port, and the caller with a scope."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request, Response

from feedmill.app import App
from feedmill.errors import NotAllowed, NotSignedIn
from feedmill.i18n.messages import Message
from feedmill.library.jobs.job_port import JobPort
from feedmill.model.user import ADMIN, FILL, POOLS, READ, WRITE, Caller
from feedmill.serve.http import csrf
from feedmill.serve.http.auth import caller_of, has_bearer_token, refuse_restricted_session


async def current_caller(request: Request) -> Caller:
    """The caller of the API; raises `NotSignedIn` or `TwoFactorMissing`.

    A request with a session cookie also needs a CSRF token.
    """
    who = await caller_of(request)
    if who is None:
        await refuse_restricted_session(request)
        raise NotSignedIn(Message("error.not_signed_in"))
    if not has_bearer_token(request) and request.method not in csrf.SAFE_METHODS:
        csrf.check_csrf_token(request, None)
    return who


def require_scope(scope: str) -> Callable[[Caller], Awaitable[Caller]]:
    """A dependency that returns the caller; raises `NotAllowed` without that scope."""

    async def check(who: Caller = Depends(current_caller)) -> Caller:  # noqa: B008
        if scope == ADMIN and not who.user.is_admin:
            raise NotAllowed(Message("error.admin_only"))
        if scope not in who.scopes:
            raise NotAllowed(Message("error.missing_scope", scope=scope))
        return who

    return check


def _app(request: Request) -> App:
    app: App = request.app.state.app
    return app


def _jobs(request: Request) -> JobPort:
    work: JobPort = request.app.state.work
    return work


async def set_no_store(response: Response) -> None:
    """Forbids caching of the response, unless the route sets its own header."""
    response.headers["Cache-Control"] = "no-store"


TheApp = Annotated[App, Depends(_app)]
TheJobs = Annotated[JobPort, Depends(_jobs)]
Reader = Annotated[Caller, Depends(require_scope(READ))]
Writer = Annotated[Caller, Depends(require_scope(WRITE))]
PoolUser = Annotated[Caller, Depends(require_scope(POOLS))]
PoolFiller = Annotated[Caller, Depends(require_scope(FILL))]
Admin = Annotated[Caller, Depends(require_scope(ADMIN))]
