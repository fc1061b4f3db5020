"""Every changing route of the API refuses invalid requests, and then changes nothing.

The routes come from the route table, their fields from OpenAPI, and a valid request for each from `cases`. So a new
route or field is tested as soon as it exists. `make check` tries a third of the wrong values of a field, the next third
with the next field.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import httpx
import pytest

from feedmill.serve.rest import PUBLIC_ROUTES, description
from tests.serve.rest.cases import CaseRequest
from tests.serve.rest.database_content import everything
from tests.serve.rest.site import Person, Site
from tests.serve.rest.test_every_route import CASES

CHANGING = sorted(route for route in CASES if not route.startswith("GET "))
NEW_ACCOUNT = {"name": "dora", "password": "correct horse battery"}
# For visitors who are not signed in, so there is no case with Alice.
OPEN_BODIES: Mapping[str, dict[str, Any]] = {
    "POST /setup": NEW_ACCOUNT,
    "POST /register": NEW_ACCOUNT,
    "POST /sessions": NEW_ACCOUNT,
    "POST /auth/token": NEW_ACCOUNT,
    "POST /auth/refresh": {"refresh_token": "x"},
    "POST /auth/revoke": {"refresh_token": "x"},
}
OF_EACH_TYPE: Mapping[str, tuple[Any, ...]] = {
    "boolean": (True,),
    "integer": (0, 1),
    "number": (1.5,),
    "string": ("yes", "1", ""),
    "array": ([],),
    "object": ({},),
}


@dataclass(frozen=True)
class Malformed:
    """A request that a route must refuse, and what is wrong with it."""

    wrong: str
    asked: CaseRequest


def test_every_open_route_that_changes_something_is_tested() -> None:
    assert {route for route in PUBLIC_ROUTES if not route.startswith("GET ")} == set(OPEN_BODIES)


@pytest.mark.parametrize("route", CHANGING)
async def test_a_malformed_change_is_refused_and_changes_nothing(
    site: Site, alice: Person, route: str, is_check: bool
) -> None:
    method = route.split()[0]
    asked = await CASES[route].prepare(site, alice)
    operation = operation_of(route)
    before = everything(site)

    for each in malformed_requests(operation, asked, 3 if is_check else 1):
        answer = await send(alice.client, method, each.asked)
        assert 400 <= answer.status_code < 500, (each, answer.status_code, answer.text)
    assert everything(site) == before

    assert (await send(alice.client, method, asked)).is_success, "what was varied must be a request that is taken"


@pytest.mark.parametrize("route", sorted(OPEN_BODIES))
async def test_a_malformed_request_of_a_visitor_is_refused(site: Site, nobody: httpx.AsyncClient, route: str) -> None:
    operation = operation_of(route)
    before = everything(site)

    for each in malformed_requests(operation, CaseRequest(route.split()[1], OPEN_BODIES[route]), 1):
        answer = await send(nobody, "POST", each.asked)
        assert answer.status_code == 422, (each, answer.text)
    assert everything(site) == before


async def test_marking_all_read_needs_a_scope(site: Site, alice: Person) -> None:
    before = everything(site)

    answers = [
        await alice.post("/entries/mark-all", body)
        for body in ({}, {"up_to": 5}, {"feed_id": None}, {"older_than_days": 0}, {"label_id": 1, "everything": True})
    ]

    assert [answer.status_code for answer in answers] == [422] * 5
    assert everything(site) == before


def operation_of(route: str) -> dict[str, Any]:
    """The OpenAPI description of a route, with every reference resolved."""
    described = description()
    method, path = route.split()
    found: dict[str, Any] = _resolved(described["paths"][path][method.lower()], described)
    return found


def _resolved(part: Any, whole: dict[str, Any]) -> Any:
    if isinstance(part, list):
        return [_resolved(each, whole) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _resolved(whole["components"]["schemas"][part["$ref"].rpartition("/")[2]], whole)
    return {name: _resolved(value, whole) for name, value in part.items()}


async def send(client: httpx.AsyncClient, method: str, asked: CaseRequest) -> httpx.Response:
    body = {"content": asked.content} if asked.content is not None else {"json": asked.json}
    return await client.request(method, f"/api{asked.path}", headers=dict(asked.headers), **body)


def malformed_requests(operation: dict[str, Any], asked: CaseRequest, step: int) -> Iterator[Malformed]:
    """Of the wrong values of a field, every `step`th."""
    yield from _malformed_queries(operation, asked)
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        yield from _malformed_bodies(content["application/json"]["schema"], asked, step)
    elif not content:
        yield Malformed("a body that nobody reads", replace(asked, json={"no_such_field": 1}))


def _malformed_queries(operation: dict[str, Any], asked: CaseRequest) -> Iterator[Malformed]:
    joined = "&" if "?" in asked.path else "?"
    queries = {"an unknown parameter": "no_such_parameter=1"}
    for each in operation.get("parameters", ()):
        if each["in"] == "query":
            name, types = each["name"], types_of(each["schema"])
            queries[f"{name} twice"] = f"{name}=1&{name}=1"
            if "string" not in types:
                queries[f"{name} malformed"] = f"{name}=nonsense"
    for wrong, query in queries.items():
        yield Malformed(wrong, replace(asked, path=f"{asked.path}{joined}{query}"))


def _malformed_bodies(described: dict[str, Any], asked: CaseRequest, step: int) -> Iterator[Malformed]:
    body = asked.json or {}
    yield Malformed("an unknown field", replace(asked, json={**body, "no_such_field": 1}))
    for wrong in ([], "text", 5):
        yield Malformed(f"{wrong!r} for a body", replace(asked, json=wrong))
    whole = next((each for each in alternatives(described) if "properties" in each), {})
    for name in whole.get("required", ()):
        yield Malformed(f"no {name}", replace(asked, json={key: body[key] for key in body if key != name}))
    for number, (name, field) in enumerate(whole.get("properties", {}).items()):
        for value in islice(malformed_values(field), number % step, None, step):
            yield Malformed(f"{name}: {value!r}", replace(asked, json={**body, name: value}))


def malformed_values(field: dict[str, Any]) -> Iterator[Any]:
    """Values of every type that the field does not have, and values of its own type that it does not allow."""
    types = types_of(field)
    for type, values in OF_EACH_TYPE.items():
        if type not in types and not (type == "integer" and "number" in types):
            yield from values
    for each in alternatives(field):
        if "enum" in each or "const" in each:
            yield "no such word"
        if each.get("type") == "array":
            yield from ([value] for value in malformed_values(each["items"]))
        if each.get("type") == "object" and each.get("additionalProperties") is False:
            yield {"no_such_field": 1}


def types_of(field: dict[str, Any]) -> set[str]:
    return {_type(each) for each in alternatives(field)}


def _type(described: dict[str, Any]) -> str:
    found: str = described.get("type", "string" if "enum" in described or "const" in described else "object")
    return found


def alternatives(described: dict[str, Any]) -> list[dict[str, Any]]:
    options: list[dict[str, Any]] = described.get("anyOf", [described])
    return [each for each in options if each.get("type") != "null"]
