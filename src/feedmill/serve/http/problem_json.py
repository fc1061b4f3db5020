"""Error responses of the API as application/problem+json (RFC 9457)."""

from typing import Any

from starlette.responses import JSONResponse

MEDIA_TYPE = "application/problem+json"
TITLES = {
    400: "Bad request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported media type",
    421: "Unknown host",
    422: "Can't be taken",
    429: "Too many requests",
    500: "Internal error",
    503: "Not available now",
}


def problem_response(status: int, code: str, detail: str, **more: Any) -> JSONResponse:
    headers = more.pop("headers", None)
    body = {
        "type": "about:blank",
        "title": TITLES.get(status, "Error"),
        "status": status,
        "code": code,
        "detail": detail,
    } | more
    return JSONResponse(body, status, headers, MEDIA_TYPE)
