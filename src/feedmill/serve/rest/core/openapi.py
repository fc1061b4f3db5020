"""Completes FastAPI's OpenAPI description with problems and security schemes."""

from collections.abc import Sequence
from typing import Any

from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from feedmill import __version__
from feedmill.serve.rest.core.errors import ProblemResponse

SECURITY_SCHEMES = {
    "key": {
        "type": "http",
        "scheme": "bearer",
        "description": "A key made in the settings (`fm_…`), or an access token of `POST /auth/token`.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "feedmill_session",
        "description": "A browser's session; changes also need the header `X-CSRF-Token`.",
    },
}


def operation_id(route: APIRoute) -> str:
    return route.name


def complete_openapi(routes: Sequence[BaseRoute], open_routes: frozenset[str]) -> dict[str, Any]:
    """The description of these routes. `open_routes` (`POST /setup`) are for people who are not signed in."""
    description: dict[str, Any] = get_openapi(title="Feedmill", version=__version__, routes=routes)
    _add_problems_and_security(description, open_routes)
    return description


def _add_problems_and_security(description: dict[str, Any], open_routes: frozenset[str]) -> None:
    components = description.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    problem = ProblemResponse.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs", {}))
    schemas["ProblemResponse"] = problem
    components["securitySchemes"] = SECURITY_SCHEMES
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            if f"{method.upper()} {path}" in open_routes:
                operation["security"] = []
    description["security"] = [{name: []} for name in SECURITY_SCHEMES]
