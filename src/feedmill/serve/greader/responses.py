"""Responses of the Google Reader API, in the exact form that apps compare."""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from feedmill.errors import CallerError, LimitExceeded, NotSignedIn
from feedmill.serve.http.error_statuses import status_of

NO_CACHE = {"Cache-Control": "private, no-cache"}
NO_STORE = {"Cache-Control": "no-store"}
FRESHRSS = "/api/greader.php"


def json_response(value: Any) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json", headers=NO_CACHE)


def json_as_freshrss(request: Request, value: Any) -> Response:
    """JSON that FreshRSS declares as text: google-reader-api parses these responses itself, and fails for JSON."""
    response = json_response(value)
    if FRESHRSS in request.url.path:
        response.headers["Content-Type"] = "text/plain; charset=utf-8"
    return response


def ok() -> Response:
    """`OK` without a line break: apps compare for equality."""
    return PlainTextResponse("OK", headers=NO_STORE)


def refusal(error: CallerError) -> Response:
    """An error as text; apps refetch their token when they see the header."""
    headers = dict(NO_STORE)
    if isinstance(error, NotSignedIn):
        headers |= {"X-Reader-Google-Bad-Token": "true", "Google-Bad-Token": "true"}
    if isinstance(error, LimitExceeded) and error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    status = status_of(error)
    return PlainTextResponse(str(error), 400 if status == 422 else status, headers=headers)
