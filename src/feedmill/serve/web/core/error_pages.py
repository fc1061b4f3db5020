"""Turns errors into error pages, or into fragments for htmx requests."""

from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from feedmill.errors import CallerError, InfrastructureError, LimitExceeded
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.library.users.two_factor import TwoFactorMissing
from feedmill.serve.http.error_statuses import status_of
from feedmill.serve.http.security_headers import STRICT_HEADERS
from feedmill.serve.web.core.current_user import SignInRequired
from feedmill.serve.web.core.render_page import render_template

log = get_logger(__name__)

# Where a user sets up the second factor that the setting `require_two_factor` asks for.
SET_UP_PATH = "/settings/two-factor/set-up"
# Pages show that something is too large as wrong input, and have no answer of their own for a lost session.
PAGE_STATUSES = {401: 400, 413: 422}
STATUSES_WITH_TEXT = frozenset({403, 404, 405, 409, 422, 429, 500, 503})


def error_page(
    request: Request, status: int, detail: Message | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """A page that says what happened and what to do; `detail` is the message of the error."""
    problem = status if status in STATUSES_WITH_TEXT else 500
    template = "core/error_fragment.html" if is_fragment_request(request) else "core/error_page.html"
    response = render_template(request, template, status, flash=None, problem=problem, detail=detail)
    response.headers.update(headers or {})
    return response


def is_fragment_request(request: Request) -> bool:
    """Whether htmx or our scripts request a part of a page."""
    return request.headers.get("hx-request") == "true"


async def _handle_sign_in_required(request: Request, error: Exception) -> Response:
    assert isinstance(error, SignInRequired)
    if is_fragment_request(request):
        return Response(status_code=401, headers={"HX-Redirect": error.to})
    return RedirectResponse(error.to, 303)


async def _handle_two_factor_missing(request: Request, error: Exception) -> Response:
    if is_fragment_request(request):
        return Response(status_code=403, headers={"HX-Redirect": SET_UP_PATH})
    return RedirectResponse(SET_UP_PATH, 303)


async def _handle_caller_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, CallerError)
    status = status_of(error)
    wait = error.retry_after if isinstance(error, LimitExceeded) else None
    headers = {"Retry-After": str(wait)} if wait is not None else None
    return error_page(request, PAGE_STATUSES.get(status, status), error.message, headers)


async def _handle_infrastructure_error(request: Request, error: Exception) -> Response:
    log.error("page_request_failed", path=request.url.path, reason=str(error))
    return error_page(request, 503, headers={"Retry-After": "5"})


async def _handle_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return error_page(request, error.status_code, headers=error.headers)


async def _handle_unexpected_error(request: Request, error: Exception) -> Response:
    # Starlette handles these outside of all middleware, so the headers are added here.
    return error_page(request, 500, headers=STRICT_HEADERS)


HANDLERS: dict[Any, Any] = {
    SignInRequired: _handle_sign_in_required,
    TwoFactorMissing: _handle_two_factor_missing,
    CallerError: _handle_caller_error,
    InfrastructureError: _handle_infrastructure_error,
    HTTPException: _handle_http_exception,
    Exception: _handle_unexpected_error,
}
