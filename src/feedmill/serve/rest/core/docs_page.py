"""`GET /api/docs`: renders the OpenAPI description as a self-contained page."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

router = APIRouter(include_in_schema=False)

_templates = Environment(
    loader=PackageLoader("feedmill.serve.rest.core", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)
_page = _templates.get_template("docs.html")
_style = _templates.get_template("docs.css").render()
_hash = b64encode(sha256(_style.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{_hash}'; base-uri 'none'; frame-ancestors 'none'"
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


class DocsField(NamedTuple):
    """A parameter or a field of a body, shown as one line."""

    name: str
    kind: str
    required: bool
    about: str


class DocsOperation(NamedTuple):
    method: str
    path: str
    summary: str
    about: str
    fields: list[DocsField]
    responses: list[tuple[str, str]]
    is_open: bool


@router.get("/docs")
async def read_docs(request: Request) -> HTMLResponse:
    description = request.app.openapi()
    text = _page.render(
        style=_style,
        info=description["info"],
        subjects=operations_by_tag(description),
        sign_in=description["components"],
    )
    return HTMLResponse(text, headers=HEADERS)


def operations_by_tag(description: Mapping[str, Any]) -> dict[str, list[DocsOperation]]:
    """The operations of the OpenAPI description by tag."""
    found: dict[str, list[DocsOperation]] = {}
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            [subject, *_] = operation.get("tags") or ["other"]
            found.setdefault(subject, []).append(_operation(description, method, path, operation))
    return found


def _operation(description: Mapping[str, Any], method: str, path: str, operation: Mapping[str, Any]) -> DocsOperation:
    fields = [_parameter(description, one) for one in operation.get("parameters", ())]
    for content in operation.get("requestBody", {}).get("content", {}).values():
        fields += _body_fields(description, content.get("schema", {}))
    responses = [(status, response["description"]) for status, response in operation["responses"].items()]
    return DocsOperation(
        method.upper(),
        path,
        operation.get("summary", ""),
        operation.get("description", ""),
        fields,
        responses,
        operation.get("security") == [],
    )


def _parameter(description: Mapping[str, Any], one: Mapping[str, Any]) -> DocsField:
    where = "" if one["in"] == "query" else f" ({one['in']})"
    kind = describe_type(description, one["schema"])
    return DocsField(one["name"] + where, kind, one.get("required", False), one.get("description", ""))


def _body_fields(description: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[DocsField]:
    # An optional body is shown with its fields.
    several = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    schema = _resolved(description, several[0] if len(several) == 1 else schema)
    needed = schema.get("required", ())
    for name, part in schema.get("properties", {}).items():
        yield DocsField(name, describe_type(description, part), name in needed, part.get("description", ""))


def describe_type(description: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """A short text for the type of a schema."""
    if "enum" in schema or "const" in schema:
        return " | ".join(map(str, schema.get("enum", [schema.get("const")])))
    if several := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(describe_type(description, one) for one in several)
    if "$ref" in schema:
        name: str = schema["$ref"].rpartition("/")[2]
        resolved = _resolved(description, schema)
        return describe_type(description, resolved) if "enum" in resolved else name
    if schema.get("type") == "array":
        return f"list of {describe_type(description, schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "anything")


def _resolved(description: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    found: Mapping[str, Any] = description["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found
