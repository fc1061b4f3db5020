"""What went wrong, as a page, or as a few words where htmx or a script asked for a part of one."""

from collections.abc import Mapping
from typing import Any

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from feedmill.errors import (
    BadInput,
    CallerError,
    Conflict,
    InfrastructureError,
    NotAllowed,
    NotFound,
    TooLarge,
    TooMany,
)
from feedmill.serve.web.page import SignInFirst, render
from feedmill.serve.web.safety import STRICT

log = structlog.get_logger(__name__)

STATUSES: dict[type[CallerError], int] = {
    NotAllowed: 403, NotFound: 404, Conflict: 409, BadInput: 422, TooLarge: 422, TooMany: 429,
}  # fmt: skip
KNOWN = frozenset({403, 404, 405, 409, 422, 429, 500, 503})


def problem(request: Request, status: int, detail: str = "", headers: Mapping[str, str] | None = None) -> Response:
    """A page that says what happened and what to do; `detail` is the error's own sentence."""
    said = status if status in KNOWN else 500
    template = "parts/problem_fragment.html" if is_partial(request) else "problem.html"
    response = render(request, template, status, said=None, problem=said, detail=detail)
    response.headers.update(headers or {})
    return response


def is_partial(request: Request) -> bool:
    """Whether a part of a page was asked for, by htmx or by our scripts."""
    return request.headers.get("hx-request") == "true"


async def _sign_in(request: Request, error: Exception) -> Response:
    assert isinstance(error, SignInFirst)
    if is_partial(request):
        return Response(status_code=401, headers={"HX-Redirect": error.to})
    return RedirectResponse(error.to, 303)


async def _callers_fault(request: Request, error: Exception) -> Response:
    status = next((STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES), 400)
    wait = error.retry_after if isinstance(error, TooMany) else None
    return problem(request, status, str(error), {"Retry-After": str(wait)} if wait is not None else None)


async def _our_fault(request: Request, error: Exception) -> Response:
    log.error("a page could not be shown", path=request.url.path, reason=str(error))
    return problem(request, 503, headers={"Retry-After": "5"})


async def _of_the_framework(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return problem(request, error.status_code, headers=error.headers)


async def _unforeseen(request: Request, error: Exception) -> Response:
    # Starlette answers for these outside of all middleware.
    return problem(request, 500, headers=STRICT)


HANDLERS: dict[Any, Any] = {
    SignInFirst: _sign_in,
    CallerError: _callers_fault,
    InfrastructureError: _our_fault,
    HTTPException: _of_the_framework,
    Exception: _unforeseen,
}
