"""Responses of the Miniflux API: JSON with RFC 3339 times, and errors as `error_message`."""

from datetime import datetime
from typing import Any

import msgspec
from starlette.responses import Response

from feedmill.errors import CallerError, LimitExceeded, NotSignedIn
from feedmill.model.timestamps import from_iso
from feedmill.serve.http.error_statuses import status_of

ANY_ORIGIN = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE, OPTIONS",
    "Access-Control-Allow-Headers": "X-Auth-Token, Authorization, Content-Type, Accept",
}
HEADERS = {"Cache-Control": "no-store"} | ANY_ORIGIN
# 409 is no status of this API, and what is not understood is 400.
OTHER_STATUSES = {409: 400, 422: 400, 413: 400}
NEVER = "0001-01-01T00:00:00Z"


def json_response(value: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, HEADERS, "application/json")


def done() -> Response:
    """A change without a result."""
    return Response(status_code=204, headers=HEADERS)


def error_response(error: CallerError) -> Response:
    status = status_of(error)
    response = json_response({"error_message": str(error)}, OTHER_STATUSES.get(status, status))
    if isinstance(error, NotSignedIn):
        response.headers["WWW-Authenticate"] = 'Basic realm="Restricted"'
    if isinstance(error, LimitExceeded) and error.retry_after is not None:
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def rfc3339(at: datetime | str | None) -> str:
    """A time as the API writes it; that of the year 1 for one that is not known."""
    if at is None:
        return NEVER
    moment = from_iso(at) if isinstance(at, str) else at
    return moment.isoformat().replace("+00:00", "Z")
