"""Refuses unknown or repeated query parameters, and bodies where none is expected."""

from fastapi import Request
from fastapi.routing import APIRoute

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.serve.http.csrf import SAFE_METHODS

# Bodies that some programs send when they have no data.
EMPTY_BODIES = (b"", b"{}", b"null")


async def refuse_unknown_parameters(request: Request) -> None:
    """Raises `BadInput` for a parameter or body that the route does not read; only for changes."""
    route = request.scope.get("route")
    if request.method in SAFE_METHODS or not isinstance(route, APIRoute):
        return
    _check_query(request, query_parameters(route))
    if not takes_body(route) and (await request.body()).strip() not in EMPTY_BODIES:
        raise BadInput(Message("error.no_body_taken"))


def query_parameters(route: APIRoute) -> set[str]:
    """The names that a route and its dependencies read from the query.

    From the route and not from OpenAPI, which takes half a second and megabytes to generate.
    """
    names, dependants = set(), [route.dependant]
    while dependants:
        dependant = dependants.pop()
        names |= {parameter.alias for parameter in dependant.query_params}
        dependants += dependant.dependencies
    return names


def takes_body(route: APIRoute) -> bool:
    """Whether a route reads a body: as a model, or by itself, which its OpenAPI description then says."""
    return route.body_field is not None or "requestBody" in (route.openapi_extra or {})


def _check_query(request: Request, known: set[str]) -> None:
    given = [name for name, _ in request.query_params.multi_items()]
    for name in given:
        if name not in known:
            raise BadInput(Message("error.unknown_parameter", name=name[:100]), name[:100])
        if given.count(name) > 1:
            raise BadInput(Message("error.repeated_parameter", name=name), name)
