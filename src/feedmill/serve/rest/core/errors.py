"""Turns every error of the API into a problem response."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.routing import Match

from feedmill.errors import CallerError, DatabaseError, InfrastructureError, LimitExceeded
from feedmill.lazy_loggers import get_logger
from feedmill.serve.http.error_statuses import status_of
from feedmill.serve.http.problem_json import MEDIA_TYPE, TITLES, problem_response

log = get_logger(__name__)


class FieldErrorResponse(BaseModel):
    field: str
    message: str


class ProblemResponse(BaseModel):
    """An error: `code` for programs, `detail` for people, `errors` by field."""

    type: str = Field(default="about:blank")
    title: str
    status: int
    code: str
    detail: str
    errors: list[FieldErrorResponse] = []


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error responses of a route, for OpenAPI."""
    content = {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{ProblemResponse.__name__}"}}}
    return {status: {"description": TITLES[status], "content": content} for status in statuses}


def install_error_handlers(api: FastAPI) -> None:
    """Turns every error of the API into a problem response."""
    api.add_exception_handler(CallerError, _handle_caller_error)
    api.add_exception_handler(InfrastructureError, _handle_infrastructure_error)
    api.add_exception_handler(RequestValidationError, _handle_validation_error)
    api.add_exception_handler(HTTPException, _handle_http_exception)


async def _handle_caller_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, CallerError)
    status = status_of(error)
    code = getattr(error, "code", "bad_request")
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    if isinstance(error, LimitExceeded) and error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    field = getattr(error, "field", None)
    errors = [{"field": field, "message": str(error)}] if field else []
    return problem_response(status, code, str(error), errors=errors, headers=headers, **error.more)


async def _handle_infrastructure_error(request: Request, error: Exception) -> JSONResponse:
    log.error("api_request_failed", path=request.url.path, reason=str(error))
    what = "the database" if isinstance(error, DatabaseError) else "a part of this server"
    return problem_response(
        503, "not_available", f"{what} does not answer now; try again", headers={"Retry-After": "5"}
    )


async def _handle_validation_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    errors = [{"field": _field_path(one["loc"]), "message": one["msg"]} for one in error.errors()]
    detail = "; ".join(f"{one['field']}: {one['message']}" for one in errors[:3])
    return problem_response(422, "bad_input", detail, errors=errors)


async def _handle_http_exception(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = TITLES.get(error.status_code, "error").lower().replace(" ", "_").replace("'", "")
    headers = dict(error.headers or {}) | (_allow_header(request) if error.status_code == 405 else {})
    return problem_response(error.status_code, code, str(error.detail), headers=headers)


def _allow_header(request: Request) -> dict[str, str]:
    """The methods of this path for the `Allow` header; each method is a route of its own."""
    api: FastAPI = request.app
    here = [route for route in api.routes if route.matches(request.scope)[0] is not Match.NONE]
    return {"Allow": ", ".join(sorted({method for route in here for method in getattr(route, "methods", ())}))}


def _field_path(where: tuple[Any, ...]) -> str:
    return ".".join(str(part) for part in where[1:]) or str(where[0])
