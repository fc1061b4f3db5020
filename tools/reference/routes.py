"""Generates docs/reference/routes.md: every route of the API, from its description and its dependencies."""

from collections.abc import Iterator, Mapping
from inspect import getclosurevars

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from feedmill.serve.rest import PUBLIC_ROUTES, ROUTERS, description
from feedmill.serve.rest.core.dependencies import current_caller, require_scope
from feedmill.serve.rest.core.docs_page import DocsField, DocsOperation, operations_by_tag
from reference import MADE, row

INTRODUCTION = """\
Paths are below `/api`. A running server shows the same at `/api/docs`, and as OpenAPI at `/api/openapi.json`.

A program sends its API key as `Authorization: Bearer fm_…` (`feedmill user key`, or *Settings* in the browser). Scopes
limit what a key may do; each route below names the one that it needs. A user who has signed in, in a browser or with an
access token, has all scopes of the account; `admin` is for admins only.

Bodies are JSON unless stated otherwise; a `*` marks required fields. Lists return
`{"items": […], "next": cursor | null}` and take `limit` and `cursor`. Errors are `application/problem+json` with a `code`.
Data of other users is answered with 404, as if it did not exist.
"""


def page() -> str:
    scopes = dict(_scopes())
    parts = [_subject(name, operations, scopes) for name, operations in operations_by_tag(description()).items()]
    return "\n".join([f"# Routes\n\n{MADE}\n\n{INTRODUCTION}", *parts])


def _subject(name: str, operations: list[DocsOperation], scopes: Mapping[str, str]) -> str:
    return "\n".join([f"## {name[:1].upper()}{name[1:]}\n", *(_route(operation, scopes) for operation in operations)])


def _route(operation: DocsOperation, scopes: Mapping[str, str]) -> str:
    named = f"{operation.method} {operation.path}"
    about = operation.about or f"{operation.summary.capitalize()}."
    lines = [f"### `{named}`\n", f"{about}\n", f"{scopes[named]}\n"]
    if operation.fields:
        lines += [row("field", "kind", ""), "|---|---|---|", *map(_field, operation.fields), ""]
    return "\n".join(lines)


def _field(field: DocsField) -> str:
    name, _, where = field.name.partition(" ")
    needed = " \\*" if field.required and where != "(path)" else ""
    return row(f"`{name}`{needed}{' ' + where if where else ''}", field.kind, field.about)


def _scopes() -> Iterator[tuple[str, str]]:
    """The rights that each route requires, from its dependencies."""
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, APIRoute):
                for method in route.methods:
                    named = f"{method} {route.path_format}"
                    yield named, "Public: no sign-in is needed." if named in PUBLIC_ROUTES else _scope(route.dependant)


def _scope(dependant: Dependant) -> str:
    calls = list(_calls(dependant))
    asked = [getclosurevars(call).nonlocals["scope"] for call in calls if _is_of(require_scope, call)]
    if not asked and current_caller not in calls:
        raise ValueError("a route that neither is open nor asks who calls")
    return "Scope: " + (", ".join(f"`{scope}`" for scope in sorted(set(asked))) or "any")


def _is_of(maker: object, call: object) -> bool:
    return getattr(call, "__qualname__", "").startswith(f"{maker.__qualname__}.")  # type: ignore[attr-defined]


def _calls(dependant: Dependant) -> Iterator[object]:
    for below in dependant.dependencies:
        yield below.call
        yield from _calls(below)
