"""Errors as `application/problem+json` (RFC 9457): one form for whatever goes wrong."""

from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.routing import Match

from feedmill.errors import (
    BadInput,
    CallerError,
    Conflict,
    DatabaseError,
    InfrastructureError,
    NotAllowed,
    NotFound,
    NotSignedIn,
    TooLarge,
    TooMany,
)

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
STATUSES: dict[type[CallerError], int] = {
    NotSignedIn: 401,
    NotAllowed: 403,
    NotFound: 404,
    Conflict: 409,
    TooLarge: 413,
    BadInput: 422,
    TooMany: 429,
}


class FieldProblem(BaseModel):
    field: str
    message: str


class Problem(BaseModel):
    """What went wrong: `code` for programs, `detail` for people, `errors` when fields are to blame."""

    type: str = Field(default="about:blank")
    title: str
    status: int
    code: str
    detail: str
    errors: list[FieldProblem] = []


def described(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The answers of a route, for OpenAPI."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": TITLES[status], "content": content} for status in statuses}


TITLES = {
    400: "Bad request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported media type",
    422: "Can't be taken",
    429: "Too many requests",
    500: "Internal error",
    503: "Not available now",
}


def problem(status: int, code: str, detail: str, **more: Any) -> JSONResponse:
    headers = more.pop("headers", None)
    body = {
        "type": "about:blank", "title": TITLES.get(status, "Error"), "status": status, "code": code, "detail": detail,
    } | more  # fmt: skip
    return JSONResponse(body, status, headers, MEDIA_TYPE)


def install(api: FastAPI) -> None:
    """Makes every error of the API a problem."""
    api.add_exception_handler(CallerError, _callers_fault)
    api.add_exception_handler(InfrastructureError, _our_fault)
    api.add_exception_handler(RequestValidationError, _not_as_described)
    api.add_exception_handler(HTTPException, _of_the_framework)


async def _callers_fault(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, CallerError)
    status = next((STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES), 400)
    code = getattr(error, "code", "bad_request")
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    if isinstance(error, TooMany) and error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    field = getattr(error, "field", None)
    errors = [{"field": field, "message": str(error)}] if field else []
    return problem(status, code, str(error), errors=errors, headers=headers, **error.more)


async def _our_fault(request: Request, error: Exception) -> JSONResponse:
    log.error("a request could not be served", path=request.url.path, reason=str(error))
    what = "the database" if isinstance(error, DatabaseError) else "a part of this server"
    return problem(503, "not_available", f"{what} does not answer now; try again", headers={"Retry-After": "5"})


async def _not_as_described(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    errors = [{"field": _place(one["loc"]), "message": one["msg"]} for one in error.errors()]
    said = "; ".join(f"{one['field']}: {one['message']}" for one in errors[:3])
    return problem(422, "bad_input", said, errors=errors)


async def _of_the_framework(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = TITLES.get(error.status_code, "error").lower().replace(" ", "_").replace("'", "")
    headers = dict(error.headers or {}) | (_allowed(request) if error.status_code == 405 else {})
    return problem(error.status_code, code, str(error.detail), headers=headers)


def _allowed(request: Request) -> dict[str, str]:
    """What may be done at this address; each of its methods is a route of its own, and knows of no other."""
    api: FastAPI = request.app
    here = [route for route in api.routes if route.matches(request.scope)[0] is not Match.NONE]
    return {"Allow": ", ".join(sorted({method for route in here for method in getattr(route, "methods", ())}))}


def _place(where: tuple[Any, ...]) -> str:
    return ".".join(str(part) for part in where[1:]) or str(where[0])
