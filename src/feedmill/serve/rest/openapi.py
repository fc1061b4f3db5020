"""The description of the API: what FastAPI draws, with the form of problems and the ways to sign in."""

from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from feedmill.serve.rest.problems import Problem

SIGN_IN = {
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


def describe(api: FastAPI, open_routes: frozenset[str]) -> None:
    """Completes the description. `open_routes` (`POST /setup`) are for people who are not signed in."""
    draw = api.openapi

    def openapi() -> dict[str, Any]:
        if api.openapi_schema is None:
            _complete(draw(), open_routes)
        drawn: dict[str, Any] = draw()
        return drawn

    api.openapi = openapi  # type: ignore[method-assign]


def _complete(drawn: dict[str, Any], open_routes: frozenset[str]) -> None:
    components = drawn.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs", {}))
    schemas["Problem"] = problem
    components["securitySchemes"] = SIGN_IN
    for path, methods in drawn["paths"].items():
        for method, operation in methods.items():
            if f"{method.upper()} {path}" in open_routes:
                operation["security"] = []
    drawn["security"] = [{name: []} for name in SIGN_IN]
