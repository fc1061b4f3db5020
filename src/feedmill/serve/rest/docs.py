"""`GET /api/docs`: the API's description as a page of our own, which asks nobody else for anything."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

router = APIRouter(include_in_schema=False)

_templates = Environment(
    loader=PackageLoader("feedmill.serve.rest", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
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


class Field(NamedTuple):
    """A parameter, or a part of a body, as one line."""

    name: str
    kind: str
    required: bool
    about: str


class Operation(NamedTuple):
    method: str
    path: str
    summary: str
    about: str
    fields: list[Field]
    answers: list[tuple[str, str]]
    is_open: bool


@router.get("/docs")
async def read_docs(request: Request) -> HTMLResponse:
    drawn = request.app.openapi()
    text = _page.render(style=_style, info=drawn["info"], subjects=subjects(drawn), sign_in=drawn["components"])
    return HTMLResponse(text, headers=HEADERS)


def subjects(drawn: Mapping[str, Any]) -> dict[str, list[Operation]]:
    """The operations of a description by their subject."""
    found: dict[str, list[Operation]] = {}
    for path, methods in drawn["paths"].items():
        for method, operation in methods.items():
            [subject, *_] = operation.get("tags") or ["other"]
            found.setdefault(subject, []).append(_operation(drawn, method, path, operation))
    return found


def _operation(drawn: Mapping[str, Any], method: str, path: str, operation: Mapping[str, Any]) -> Operation:
    fields = [_parameter(drawn, one) for one in operation.get("parameters", ())]
    for content in operation.get("requestBody", {}).get("content", {}).values():
        fields += _parts(drawn, content.get("schema", {}))
    answers = [(status, answer["description"]) for status, answer in operation["responses"].items()]
    return Operation(
        method.upper(), path, operation.get("summary", ""), operation.get("description", ""), fields, answers,
        operation.get("security") == [],
    )  # fmt: skip


def _parameter(drawn: Mapping[str, Any], one: Mapping[str, Any]) -> Field:
    where = "" if one["in"] == "query" else f" ({one['in']})"
    kind = kind_of(drawn, one["schema"])
    return Field(one["name"] + where, kind, one.get("required", False), one.get("description", ""))


def _parts(drawn: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Field]:
    # A body that may be left out shows as if it was sent.
    several = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    schema = _resolved(drawn, several[0] if len(several) == 1 else schema)
    needed = schema.get("required", ())
    for name, part in schema.get("properties", {}).items():
        yield Field(name, kind_of(drawn, part), name in needed, part.get("description", ""))


def kind_of(drawn: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """A schema in a few words."""
    if "enum" in schema or "const" in schema:
        return " | ".join(map(str, schema.get("enum", [schema.get("const")])))
    if several := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(kind_of(drawn, one) for one in several)
    if "$ref" in schema:
        name: str = schema["$ref"].rpartition("/")[2]
        resolved = _resolved(drawn, schema)
        return kind_of(drawn, resolved) if "enum" in resolved else name
    if schema.get("type") == "array":
        return f"list of {kind_of(drawn, schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "anything")


def _resolved(drawn: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    found: Mapping[str, Any] = drawn["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found
